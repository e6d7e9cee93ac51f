import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const SERVICE = path.resolve(import.meta.dirname, '../../service')

const EXTENSIONS = ['identifier', 'offer-receipt', 'refund', 'sign-in'].map((name) => `x402/${name}.ts`)

/** What is decided once, and the only files that may write it. Everything else asks them. */
const HOMES: Readonly<Record<string, { written: RegExp; in: readonly string[] }>> = {
  'why a 402 has no payment': { written: /A payment is required\./, in: ['sales/errors.ts'] },
  'the shape of a payment token': { written: /\^tok_/, in: ['sales/service/proof.ts'] },
  'what is wrong with such a token': { written: /must be tok_/, in: ['sales/errors.ts'] },
  'which sale a request names': { written: /header\('x-payment-id'\) \?\?/, in: ['sales/service/proof.ts'] },
  'how deep a block is': { written: /[hH]ead(\.number)? - [\w.()]+ \+ 1n/, in: ['chain/networks.ts'] },
  'when what was signed is over': { written: /REORG_SECONDS|validBefore \+ /, in: ['chain/networks.ts'] },
  'the extensions of a 402': {
    written: /(offers|identifier|refund|signIn)Extension\(/,
    in: ['x402/dialects.ts', ...EXTENSIONS],
  },
  'what is asked for in a 402': { written: /dialects\.required\(/, in: ['sales/service/door.ts'] },
  // Each of them is refused inside a transaction.
  'who asks other servers': {
    written: /from '(undici|nodemailer|openai)'/,
    in: [
      ...['client', 'connector', 'relay'].map((name) => `outbound/${name}.ts`),
      ...['chain/endpoint.ts', 'mail/mailer.ts', 'models/vendor.ts'],
    ],
  },
  // And the transfer that a passkey's owner signs.
  'a signed transfer is sent': {
    written: /settle\(transferRequest\(/,
    in: ['transfers/service/send.ts', 'passkey-wallets/service.ts'],
  },
}

describe('one home', () => {
  const files = readdirSync(SERVICE, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !/(^|\/)(node_modules|dist|generated)\//.test(file),
  )

  test.each(Object.entries(HOMES))('%s', (_what, { written, in: homes }) => {
    const found = files.filter((file) => written.test(readFileSync(path.join(SERVICE, file), 'utf8')))
    expect(found.sort()).toEqual([...homes].sort())
  })
})

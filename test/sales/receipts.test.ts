import fc from 'fast-check'
import { recoverTypedDataAddress, type Hex } from 'viem'
import { loadCurve, loadKeccak } from '../../service/chain/curve.ts'
import type { PublishedKey } from '../../service/kit/schema/settings.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { verifyReceipt, type Verdict } from '../../service/pages/browser/verify/verify.ts'
import { openReceiptKeys, type ReceiptKeys } from '../../service/wiring/receipt-keys.ts'
import { createDialects, type Dialects, type Receipt } from '../../service/x402/dialects.ts'
import { withoutOffers } from '../../service/x402/offer-receipt.ts'
import { requirementsOf } from '../../service/x402/requirements.ts'
import { en } from '../../service/pages/browser/words/en.ts'
import { speak } from '../../service/pages/browser/words/say.ts'

speak('en', en)

const [curve, keccak] = await Promise.all([loadCurve(), loadKeccak()])
const SECRET = 's'.repeat(40)
const ORIGIN = 'https://pay.example'
const URL_PAID = `${ORIGIN}/tools/pay/acme-ping`
const RECEIPT: Receipt = {
  success: true,
  txHash: `0x${'ab'.repeat(32)}`,
  network: 'base-sepolia',
  payer: `0x${'11'.repeat(20)}`,
  resource: URL_PAID,
  paidAt: new Date('2026-11-23T12:00:00.500Z'),
}

interface Setting {
  origin?: string
  secret?: string
  version?: number
  earlier?: readonly PublishedKey[]
}

function open({ origin = ORIGIN, secret = SECRET, version = 1, earlier = [] }: Setting = {}, clock = systemClock) {
  const names = ['api', 'tools', 'facilitator', 'pay', 'receipts', 'gate', 'dashboard']
  const addresses = Object.fromEntries(names.map((name) => [name, `${origin}/${name}`]))
  const config = { addresses, RECEIPT_KEY_VERSION: version, RECEIPT_OLD_JWKS: earlier, ROLES: ['api'] }
  const platform = { config, secret, clock } as unknown as Parameters<typeof openReceiptKeys>[0]
  const keys = openReceiptKeys(platform, { curve, keccak } as Parameters<typeof openReceiptKeys>[1])
  const dialects = createDialects({ key: Buffer.alloc(32), clock, signer: keys.signer })
  return { keys, dialects }
}

interface DidDocument {
  id: string
  verificationMethod: { id: string; publicKeyJwk?: PublishedKey; blockchainAccountId?: string }[]
}

function documentOf({ part }: ReceiptKeys, host = new URL(ORIGIN).host): DidDocument {
  let document: unknown
  const response = { set: () => undefined, json: (body: unknown) => (document = body) }
  const [mounted] = part.mounted!
  void mounted!.handler({ path: '/', method: 'GET', host } as never, response as never, () => undefined)
  return document as DidDocument
}

const verified = (text: string, keys: ReceiptKeys): Promise<Verdict> =>
  verifyReceipt(text, { issuers: keys.issuers, load: () => Promise.resolve(documentOf(keys)) })

const jwsOf = (dialects: Dialects, receipt = RECEIPT): string => dialects.signed.jws(receipt)!.signature

describe('a signed receipt', () => {
  test("is verified by its issuer's keys only, and shows the payment", async () => {
    const { keys, dialects } = open()
    const terms = dialects.signed.terms(RECEIPT, {
      scheme: 'exact',
      amount: 5_010_000n,
      payTo: `0x${'22'.repeat(20)}`,
    })!
    expect(await verified(`${jwsOf(dialects)}~${terms.signature}`, keys)).toEqual({
      kind: 'valid',
      facts: {
        issuer: 'pay.example',
        resource: URL_PAID,
        payer: RECEIPT.payer,
        network: 'Base Sepolia',
        paidAt: new Date('2026-11-23T12:00:00Z'),
        transaction: RECEIPT.txHash,
        explorerUrl: `https://sepolia.basescan.org/tx/${RECEIPT.txHash!}`,
        terms: { amount: '5.01 USDC', recipient: `0x${'22'.repeat(20)}` },
      },
    })
    // Any text around it is ignored, and so are terms of another resource.
    const other = dialects.signed.terms(
      { ...RECEIPT, resource: `${ORIGIN}/other` },
      { scheme: 'exact', amount: 1n, payTo: '0x1' },
    )!
    const json = JSON.stringify({ signed: { jws: dialects.signed.jws(RECEIPT), terms: other } })
    expect(await verified(json, keys)).toMatchObject({ kind: 'valid', facts: { terms: null } })
  })

  test('shows no amount and recipient of an offer, or of another payment, of the same address', async () => {
    const { keys, dialects } = open()
    const payTo = `0x${'33'.repeat(20)}` as const
    const another = { ...RECEIPT, txHash: `0x${'cd'.repeat(32)}` }
    const paid = dialects.signed.terms(another, { scheme: 'exact', amount: 950_000_000n, payTo })!
    const price = { amount: 950_000_000n, recipient: payTo, network: 'base-sepolia' as const }
    const { v2 } = requirementsOf(price, { url: URL_PAID, description: 'A call', mimeType: 'application/json' }, {})
    const offered = keys.signer.offers(v2, URL_PAID).find(({ format }) => format === 'jws')!
    for (const { signature } of [paid, offered]) {
      const found = await verified(`${jwsOf(dialects)}~${signature}`, keys)
      expect(found).toMatchObject({ kind: 'valid', facts: { terms: null } })
    }
  })

  test('is deterministic, and exists only for payments on a chain', () => {
    const { dialects } = open()
    expect(jwsOf(dialects)).toBe(jwsOf(open().dialects))
    for (const change of [{ success: false }, { txHash: null }, { txHash: 'simulated:pay_0' }, { resource: '' }]) {
      expect(dialects.signed.jws({ ...RECEIPT, ...change })).toBeNull()
      expect(dialects.signed.eip712({ ...RECEIPT, ...change })).toBeNull()
    }
  })

  test('is invalid once any of its fields was changed', async () => {
    const { keys, dialects } = open()
    const [header = '', payload = '', signature = ''] = jwsOf(dialects).split('.')
    const fields = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>
    const change = fc.record({ field: fc.constantFrom(...Object.keys(fields)), value: fc.oneof(fc.string(), fc.nat()) })
    await fc.assert(
      fc.asyncProperty(change, async ({ field, value }) => {
        fc.pre(fields[field] !== value)
        const changed = Buffer.from(JSON.stringify({ ...fields, [field]: value })).toString('base64url')
        expect((await verified(`${header}.${changed}.${signature}`, keys)).kind).toBe('invalid')
      }),
      { numRuns: 100 },
    )
  })

  test('stays valid when the keys are rotated, and when the secret is replaced and its keys are listed', async () => {
    const old = open()
    const receipt = jwsOf(old.dialects)
    const rotated = open({ version: 2 })
    expect(jwsOf(rotated.dialects)).not.toBe(receipt)
    expect((await verified(receipt, rotated.keys)).kind).toBe('valid')
    // The next version is published in advance.
    expect((await verified(jwsOf(rotated.dialects), old.keys)).kind).toBe('valid')

    const replaced = { secret: 'r'.repeat(40) }
    expect(await verified(receipt, open(replaced).keys)).toMatchObject({
      kind: 'invalid',
      reason: expect.stringContaining('does not publish the key'),
    })
    const earlier = documentOf(old.keys).verificationMethod.flatMap(({ publicKeyJwk }) => publicKeyJwk ?? [])
    const listed = open({ ...replaced, earlier })
    expect((await verified(receipt, listed.keys)).kind).toBe('valid')
    expect(documentOf(listed.keys).verificationMethod).toEqual(
      expect.arrayContaining(documentOf(old.keys).verificationMethod),
    )
  })

  test('from another host is not verified here, even with the same key', async () => {
    const foreign = open({ origin: 'https://other.example' })
    expect(
      await verified(jwsOf(foreign.dialects, { ...RECEIPT, resource: 'https://other.example/x' }), open().keys),
    ).toEqual({
      kind: 'invalid',
      reason: 'other.example issued this receipt. This page knows the keys of pay.example only.',
    })
  })

  test('cannot be checked without the keys, and nothing else is taken for one', async () => {
    const { keys, dialects } = open()
    const { issuers } = keys
    const load = (): Promise<never> => Promise.reject(new Error('offline'))
    expect(await verifyReceipt(jwsOf(dialects), { issuers, load })).toMatchObject({ kind: 'unknown' })
    const terms = dialects.signed.terms(RECEIPT, { scheme: 'exact', amount: 1n, payTo: '0x1' })!.signature
    const typed = JSON.stringify(dialects.signed.eip712(RECEIPT))
    const [header = '', payload = ''] = jwsOf(dialects).split('.')
    for (const [text, reason] of [
      [terms, 'signed offer'],
      [typed, 'EIP-712'],
      ['hello', 'not a signed receipt'],
      [`${header}.${payload}.`, 'not a signed receipt'],
      [`${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.AA`, 'An unknown service'],
      [`eyJ${'x'.repeat(15_000)}.eyJ`, 'not a signed receipt'],
    ] as const) {
      expect(await verified(text, keys)).toMatchObject({ kind: 'invalid', reason: expect.stringContaining(reason) })
    }
  })

  test('as typed data is signed by the address that its issuer publishes', async () => {
    const { keys, dialects } = open()
    const { payload, signature } = dialects.signed.eip712(RECEIPT)!
    const signer = await recoverTypedDataAddress({
      domain: { name: 'x402 receipt', version: '1', chainId: 1 },
      types: {
        Receipt: [
          { name: 'version', type: 'uint256' },
          { name: 'network', type: 'string' },
          { name: 'resourceUrl', type: 'string' },
          { name: 'payer', type: 'string' },
          { name: 'issuedAt', type: 'uint256' },
          { name: 'transaction', type: 'string' },
        ],
      },
      primaryType: 'Receipt',
      message: { ...payload, version: BigInt(payload.version), issuedAt: BigInt(payload.issuedAt) },
      signature: signature as Hex,
    })
    const published = documentOf(keys).verificationMethod.map(({ blockchainAccountId }) => blockchainAccountId)
    expect(published).toContain(`eip155:1:${signer.toLowerCase()}`)
  })
})

describe('a signed offer', () => {
  const required = (url: string) => {
    const resource = { url, description: 'A call', mimeType: 'application/json' }
    const price = { amount: 5_000n, recipient: `0x${'22'.repeat(20)}`, network: 'base-sepolia' } as const
    const about = { amount: '0.005', facilitator: ORIGIN, recipient: price.recipient, memo: 'x', error: 'x' }
    return { ...about, requirements: requirementsOf(price, resource, {}), resource, reason: null }
  }
  const offersIn = async (dialects: Dialects, url: string) => {
    const { headers } = await dialects.required(required(url), () => undefined)
    const size = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
    const { extensions } = JSON.parse(Buffer.from(headers['PAYMENT-REQUIRED']!, 'base64').toString()) as {
      extensions?: { 'offer-receipt'?: { info: { offers: { format: string; signature: string }[] } } }
    }
    return { size, offers: extensions?.['offer-receipt']?.info.offers ?? [] }
  }

  test('is renewed once a minute', async () => {
    let at = Date.parse('2026-11-23T12:00:01Z')
    const clock = { now: () => new Date(at) }
    const { dialects } = open({}, clock)
    const first = await offersIn(dialects, URL_PAID)
    at += 58_000
    expect(await offersIn(dialects, URL_PAID)).toEqual(first)
    at += 2_000
    const second = await offersIn(dialects, URL_PAID)
    expect(second.offers.map(({ format }) => format)).toEqual(['eip712', 'jws'])
    expect(second).not.toEqual(first)
  })

  test('leaves room for the other headers, however long the address is', async () => {
    const { dialects } = open()
    const of = (length: number) => offersIn(dialects, `${ORIGIN}/${'a'.repeat(length)}`)
    const [short, long, longest] = [await of(900), await of(1_900), await of(2_100)]
    expect([short, long, longest].map(({ offers }) => offers.length)).toEqual([2, 1, 0])
    for (const { size } of [short, long, longest]) expect(size).toBeLessThan(15_000)
  })

  test('that a client returns is not stored with its payment', () => {
    const payload = { x402Version: 2, payload: {}, extensions: { 'offer-receipt': { info: {} }, other: { info: 1 } } }
    expect(withoutOffers(payload)).toEqual({ x402Version: 2, payload: {}, extensions: { other: { info: 1 } } })
    expect(withoutOffers({ a: 1, extensions: { 'offer-receipt': {} } })).toEqual({ a: 1 })
    expect(withoutOffers({ a: 1, extensions: 'x' })).toEqual({ a: 1, extensions: 'x' })
  })
})

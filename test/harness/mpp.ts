import { keccak256, toBytes } from 'viem'
import type { Hex } from '../../service/chain/model.ts'
import type { Network } from '../../service/chain/networks.ts'
import type { TestAccount } from './chain.ts'

/** The parameters of a challenge of MPP, by a reader of the test's own. */
export function challengeIn(headers: Headers): Record<string, string> {
  const text = headers.get('www-authenticate') ?? ''
  if (!text.startsWith('Payment ')) throw new Error(`no challenge: ${text}`)
  return Object.fromEntries(Array.from(text.matchAll(/([a-z]+)="([^"]*)"/g), ([, name, value]) => [name!, value!]))
}

/** What a wallet answers to a challenge; `change` stands in what it signs. */
export async function answerTo(
  payer: TestAccount,
  network: Network,
  challenge: Record<string, string>,
  change: Record<string, unknown> = {},
): Promise<{ header: 'Authorization' | 'Payment-Authorization'; value: string }> {
  const { amount, recipient } = JSON.parse(Buffer.from(challenge['request']!, 'base64url').toString()) as {
    amount: string
    recipient: string
  }
  const { signature, ...signed } = await payer.authorize(network, recipient.toLowerCase() as Hex, {
    value: BigInt(amount),
    validBefore: BigInt(Math.floor(Date.parse(challenge['expires']!) / 1_000)),
    nonce: keccak256(toBytes(challenge['id']! + challenge['realm']!)),
    ...change,
  })
  const authorization = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name, String(value)]))
  const credential = { challenge, payload: { type: 'authorization', ...authorization, signature } }
  return {
    header: challenge['header'] === undefined ? 'Authorization' : 'Payment-Authorization',
    value: credentialOf(credential),
  }
}

/** A credential as its header holds it. */
export function credentialOf(credential: unknown): string {
  return `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`
}

/** The same signature in the form of each protocol. */
export function dialectsOf(header: { name: string; value: string }, { name, caip2 }: { name: string; caip2: string }) {
  const isMpp = header.name.endsWith('uthorization')
  const json = JSON.parse(Buffer.from(header.value.replace(/^Payment /, ''), 'base64').toString('utf8')) as {
    payload: Record<string, unknown>
  }
  const { signature, ...rest } = json.payload
  const signed = Object.fromEntries(Object.entries(rest).filter(([field]) => field !== 'type'))
  const payload = { signature, authorization: isMpp ? signed : rest['authorization'] }
  const written = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64')
  return [
    header,
    { name: 'X-PAYMENT', value: written({ x402Version: 1, scheme: 'exact', network: name, payload }) },
    {
      name: 'PAYMENT-SIGNATURE',
      value: written({ x402Version: 2, accepted: { scheme: 'exact', network: caip2 }, payload }),
    },
  ]
}

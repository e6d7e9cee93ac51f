import type { TestAccount, TestChain } from './chain.ts'
import { answerTo } from './mpp.ts'
import { signFor } from './wallet.ts'

export type Json = Record<string, unknown>

/** One request of MCP, without a session, and its response. */
export async function sendMcp(
  url: string,
  message: { method: string; params: Json },
  headers: Record<string, string> = {},
): Promise<Json> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  })
  const text = await response.text()
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as Json
}

/** What a wallet of MPP makes of the challenge in a result, for `_meta`. */
export async function credentialFor(chain: TestChain, payer: TestAccount, result: Json): Promise<Json> {
  const meta = result['_meta'] as Record<string, { challenges: [Record<string, string>] }>
  const [challenge] = meta['org.paymentauth/payment-required']!.challenges
  const request = Buffer.from(JSON.stringify(challenge['request'])).toString('base64url')
  const { value } = await answerTo(payer, chain.network, { ...challenge, request })
  const credential = JSON.parse(Buffer.from(value.slice('Payment '.length), 'base64').toString()) as Json
  return { 'org.paymentauth/credential': { ...credential, challenge } }
}

/** What a wallet makes of the terms in a result. */
export async function payFor(chain: TestChain, payer: TestAccount, result: Json): Promise<Json> {
  const terms = JSON.stringify(result['structuredContent'])
  const { accepts } = JSON.parse(terms) as { accepts: Json[] }
  const headers = new Headers({ 'payment-required': Buffer.from(terms).toString('base64') })
  const { value } = await signFor(chain, payer, { headers, body: { accepts } })
  return JSON.parse(Buffer.from(value, 'base64').toString()) as Json
}

import { signFor } from '../tools/calls/pay-world.ts'
import type { TestAccount, TestChain } from './chain.ts'

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

/** What a wallet makes of the terms in a result. */
export async function payFor(chain: TestChain, payer: TestAccount, result: Json): Promise<Json> {
  const terms = JSON.stringify(result['structuredContent'])
  const { accepts } = JSON.parse(terms) as { accepts: Json[] }
  const headers = new Headers({ 'payment-required': Buffer.from(terms).toString('base64') })
  const { value } = await signFor(chain, payer, { headers, body: { accepts } } as never)
  return JSON.parse(Buffer.from(value, 'base64').toString()) as Json
}

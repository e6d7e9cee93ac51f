import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Hex } from 'viem'
import { verifyWebhook } from '../../service/client/coinslot.ts'
import type { TestChain } from '../harness/chain.ts'
import { linkIn } from '../harness/smtp.ts'
import { buy } from '../harness/wallet.ts'

const PRICE = 50_000n

/** A workflow on this machine: it answers, and has what it received. */
export async function startHook(): Promise<Hook> {
  const received: { headers: Record<string, string>; body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      received.push({ headers: request.headers as Record<string, string>, body })
      server.emit('received')
      response.end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    async first() {
      while (received.length === 0) await once(server, 'received')
      return received[0]!
    },
    count: () => received.length,
    close: () => void server.close(),
  }
}

export interface Hook {
  host: string
  first(): Promise<{ headers: Record<string, string>; body: string }>
  count(): number
  close(): void
}

/** Steps 1 and 3 of the first payment in docs/going-live.md: sign up, confirm, make a key, sell, and be paid on Base. */
export async function takeFirstPayment(
  origin: string,
  { base, mails, hook }: { base: TestChain; mails: readonly string[]; hook: Hook },
): Promise<void> {
  const person = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }
  const signUp = await post(`${origin}/auth/sign-up/email`, person, { origin })
  expect(signUp.status).toBe(200)
  const link = new URL(await linkIn(mails, person.email, '/verify-email'))
  const { password } = person
  const confirmed = await post(
    `${origin}/auth/verify-email`,
    { token: link.searchParams.get('token'), password },
    { origin },
  )
  const signedIn = await post(`${origin}/auth/sign-in/email`, person, { origin })
  expect([confirmed.status, signedIn.status]).toEqual([200, 200])
  const cookie = signedIn.headers.getSetCookie().map((line) => line.split(';')[0])
  const createdKey = await post(
    `${origin}/v1/keys`,
    { name: 'first' },
    { origin, cookie: cookie.join('; '), 'coinslot-environment': 'production' },
  )
  const { secret } = (await createdKey.json()) as { secret: string }
  expect(secret).toMatch(/^csk_live_/)

  const authorization = { authorization: `Bearer ${secret}` }
  const terms = { product: { name: 'A report' }, price: 0.05, network: 'base', lifetime: 'persistent' }
  const created = await post(
    `${origin}/v1/checkouts`,
    { ...terms, callbackUrl: `http://${hook.host}/hook` },
    authorization,
  )
  const { checkout, secret: signing } = (await created.json()) as {
    checkout: { url: string; recipient: Hex }
    secret: string
  }
  const paid = await buy({ chain: base, payer: await base.payer(PRICE) }, checkout.url, json({}))
  expect([paid.status, paid.body]).toEqual([200, expect.objectContaining({})])

  const { headers, body } = await hook.first()
  expect(await verifyWebhook(body, headers, signing)).toMatchObject({
    payment: { amount: 0.05, network: 'base' },
  })
  const listed = await fetch(`${origin}/v1/payments`, { headers: authorization })
  const { payments } = (await listed.json()) as { payments: { state: string; txHash: Hex }[] }
  expect(payments).toEqual([expect.objectContaining({ state: 'paid', amount: 0.05, network: 'base' })])
  expect(await base.call('eth_getTransactionReceipt', payments[0]!.txHash)).toMatchObject({ status: '0x1' })
  expect(await balanceOf(base, checkout.recipient)).toBe(PRICE)
  expect(hook.count()).toBe(1)
}

function post(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, json(body, headers))
}

function json(body: object, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

async function balanceOf(chain: TestChain, address: Hex): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`
  return BigInt((await chain.call('eth_call', { to: chain.network.usdc.address, data }, 'latest')) as string)
}

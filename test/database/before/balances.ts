import { newToken } from '../../chaos/token.ts'
import type { TestPerson, TestService } from '../../harness/service.ts'
import { posted } from '../../harness/shop.ts'
import { until } from '../../harness/until.ts'
import { buy } from '../../harness/wallet.ts'
import { json } from '../../paywall/upstream.ts'
import type { Store } from './sales.ts'

const GATE = 'prepaid-gate'
const pricing = (maximum: number) => ({ model: 'per-token', input: 0.001, output: 0.002, minimum: 0.001, maximum })

/** Payments into a balance at a gate, and the token of each: what is left of it buys further calls, which are no sales. */
export async function prepay({ service, places, chain, upstream, seller }: Store): Promise<string[]> {
  for (const path of ['/chat', '/short'])
    upstream.on(path, (_, response) => json(response, 200, { usage: { input_tokens: 1_000, output_tokens: 2_000 } }))
  const terms = { network: 'base', recipient: service.wallets.treasury() }
  await posted(seller, '/v1/paywalls', {
    ...{ slug: GATE, name: 'Chat', upstreamUrl: upstream.url, ...terms },
    routes: [
      { method: 'POST', path: '/chat', pricing: pricing(0.02) },
      { method: 'POST', path: '/short', pricing: pricing(0.01) },
    ],
  })
  const tokens: string[] = []
  const pay = async () => {
    const token = newToken()
    tokens.push(token)
    const payer = await chain.payer(1_000_000n)
    return await buy({ chain, payer }, `${service.origin}/gate/${GATE}/chat`, requestOf(token))
  }
  await pay()
  for (const place of ['sale settling', 'sale settled', 'sale paid']) await places.stop(place, pay)
  return tokens
}

/** Every balance pays for one call more. */
export async function expectPrepaid({ origin, database }: TestService, tokens: readonly string[]): Promise<void> {
  for (const token of tokens) {
    const answer = await fetch(`${origin}/gate/${GATE}/short`, requestOf(token))
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  }
  const balances = await database.statements.run('SELECT available, held, paid, drawn FROM paywall_balance', [])
  expect(balances).toEqual(tokens.map(() => ({ available: 10_000n, held: 0n, paid: 20_000n, drawn: 10_000n })))
}

function requestOf(token: string): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', 'x-payment-token': token }, body: '{}' }
}

/** An account's calls and a run, paid from its balance: no sales in that version, and in this one neither. */
export async function callWithKey(
  { places, upstream }: Pick<Store, 'places' | 'upstream'>,
  buyer: TestPerson,
): Promise<void> {
  const inputs = { title: 'called' }
  for (const place of ['call reserved', 'call answered', 'call captured'])
    await places.stop(place, () => buyer.call('POST', '/tools/acme-create-note', { body: inputs }))
  const isAsked = new Promise<void>((resolve) => upstream.on('/ran', () => resolve()))
  const run = buyer.call('POST', '/v1/run', { body: { rdaSlug: 'shop-asset', inputs } })
  const ended = run.then(({ text }) => Promise.reject(new Error(text)))
  ended.catch(() => undefined)
  await Promise.race([isAsked, ended])
}

/** Only the call whose price was captured is charged. */
export async function expectCharged(service: TestService, key: string): Promise<void> {
  const query = `SELECT state::text, count(*)::int FROM ledger_hold WHERE state = 'open' GROUP BY 1`
  await until(async () => (await service.database.statements.run(query, [])).length === 0)
  const { wallet } = (await service.call('GET', '/v1/wallet/balance', { key })).body
  const { credits } = (await service.call('GET', '/v1/credits', { key })).body
  // Free credits are spent first: five dollars.
  expect([wallet, credits]).toMatchObject([{ balance: 100, availableBalance: 100 }, { balance: 4.98 }])
}

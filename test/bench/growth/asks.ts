import { Agent, request } from 'undici'
import type { Service } from '../../../service/wiring/compose.ts'
import { newId } from '../../../service/kit/ids.ts'
import { usdc } from '../../../service/kit/money.ts'
import { OWNERS, word, WORDS } from './assets.ts'

export interface Operation {
  readonly name: string
  run(): Promise<unknown>
  /** For those that take long by their nature. */
  readonly times?: number
}

/** The main requests, each sent as one user among many; `busy` is the one user who has a tenth of all rows. */
export async function operationsOf(
  service: Service,
  origin: string,
  sweepers: readonly { name: string; run(): Promise<unknown> }[],
  below: (bound: number) => number,
): Promise<{ operations: Operation[]; close(): Promise<void> }> {
  const agent = new Agent({ connections: 4 })
  const keyOf = (number: number): Promise<string> => keyFor(service, number)
  const [busy, plain, creator] = [await keyOf(0), await keyOf(7), await keyOf(3)]

  async function send(method: 'GET' | 'POST', at: string, key: string | null, body?: unknown): Promise<unknown> {
    const answer = await request(origin + at, {
      method,
      dispatcher: agent,
      headers: {
        accept: 'application/json',
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${method} ${at} answered ${String(answer.statusCode)}: ${text}`)
    return JSON.parse(text)
  }
  const get = (at: string, key: string | null): Promise<unknown> => send('GET', at, key)
  const trpc = (name: string, key: string, input: object = { days: 30 }): Promise<unknown> =>
    get(`/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`, key)

  const slug = `grown-${newId('op', new Date()).slice(-12)}`
  await send('POST', '/v1/rda', creator, {
    ...{
      slug,
      type: 'prompt',
      name: 'Echo',
      description: 'Says it again',
      pricing: { model: 'per-run', amount: 0.02, currency: 'USDC' },
    },
    inputSchema: [{ name: 'topic', label: 'Topic', type: 'text', required: true }],
    promptConfig: {
      promptTemplate: 'About {{topic}}',
      allowedModels: ['sandbox/echo'],
      defaultModelId: 'sandbox/echo',
    },
  })
  await send('POST', `/v1/rda/${slug}/publish`, creator, {})
  const { checkout } = (await send('POST', '/v1/checkouts', plain, {
    callbackUrl: 'http://127.0.0.1:9/hook',
    product: { name: 'Growth' },
    ...{ price: 1, network: 'base-sepolia', testMode: true, lifetime: 'persistent', fields: [] },
  })) as { checkout: { id: string } }
  const { user } = await personOf(service, 7)
  const owner = { userId: user.id, environment: 'sandbox' as const }

  async function charge(): Promise<void> {
    const id = `bench_${newId('op', new Date())}`
    const deadline = new Date(Date.now() + 60_000)
    await service.ledger.reserve({ id, owner, amount: usdc(10n), useCredits: true, deadline, reference: null })
    await service.ledger.capture({
      hold: id,
      owner,
      amount: usdc(10n),
      shares: [],
      kind: 'capture',
      reference: null,
      announcements: [],
    })
  }

  const operations: Operation[] = [
    { name: 'list the marketplace', run: () => get('/v1/rdas', null) },
    { name: 'search, one word', run: () => get(`/v1/rdas?search=${word(below(WORDS))}`, null) },
    { name: 'search, two words', run: () => get(`/v1/rdas?search=${word(below(20))}+${word(100 + below(50))}`, null) },
    { name: "a creator's assets", run: () => get(`/v1/rdas?ownerId=subject-${String(below(OWNERS))}`, null) },
    {
      name: "search a creator's",
      run: () => get(`/v1/rdas?ownerId=subject-${String(below(OWNERS))}&search=${word(below(100))}`, null),
    },
    { name: 'search the largest’s', run: () => get(`/v1/rdas?ownerId=subject-0&search=${word(below(100))}`, null) },
    { name: 'read an asset', run: () => get(`/v1/rda/${slug}`, null) },
    { name: 'run it (echo)', run: () => send('POST', '/v1/run', plain, { rdaSlug: slug, inputs: { topic: 'bees' } }) },
    { name: 'ledger: reserve, capture', run: charge },
    {
      name: 'checkout: pay (test)',
      run: () => send('POST', `/p/${checkout.id}/pay`, null, { input: {}, simulate: true }),
    },
    { name: 'my balance', run: () => get('/v1/wallet/balance', plain) },
    { name: 'my runs', run: () => get('/v1/runs', plain) },
    { name: 'my runs, busy', run: () => get('/v1/runs', busy) },
    { name: 'my transactions', run: () => get('/v1/wallet/transactions', plain) },
    { name: 'my transactions, busy', run: () => get('/v1/wallet/transactions', busy) },
    { name: 'my deliveries', run: () => get('/v1/deliveries', plain) },
    { name: 'my deliveries, busy', run: () => get('/v1/deliveries', busy) },
    { name: 'payments of a checkout, busy', run: () => get(`/v1/checkouts/chk_${'0'.repeat(26)}/payments`, busy) },
    { name: 'overview: runs by day', run: () => trpc('runs.days', busy) },
    { name: 'overview: sales of 30 days', run: () => trpc('payments.summary', busy, lastMonth()) },
    ...sweepers.map(({ name, run }): Operation => ({ name: `sweep: ${name}`, run, times: 20 })),
  ]
  return { operations, close: () => agent.close() }
}

async function personOf(service: Service, number: number) {
  const person = {
    issuer: 'coinslot',
    subject: `filled-${String(number)}`,
    name: null,
    email: null,
    emailConfirmed: false,
  }
  return await service.identity.signUp(person)
}

async function keyFor(service: Service, number: number): Promise<string> {
  const { user } = await personOf(service, number)
  const session = { environment: 'sandbox', via: 'session', keyId: null, agentId: null } as const
  const caller = { user, subject: user.subject, issuer: user.issuer, ...session }
  const created = await service.identity.keys.create(
    caller,
    { name: 'bench', agentId: null, expiresAt: null },
    newId('op', new Date()),
  )
  return created.secret
}

/** The last thirty days. */
function lastMonth(): { first: string; last: string } {
  const [first = '', last = ''] = [29, 0].map((back) =>
    new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10),
  )
  return { first, last }
}

import type { Answer, TestPerson } from '../harness/service.ts'
import { promptBody } from '../marketplace/bodies.ts'
import { runWorld, type RunWorld } from '../marketplace/runs/world.ts'

/** Calls that move money or create something, repeated by a client that got no response. */
describe('once', () => {
  let world: RunWorld
  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(() => world.close())

  const act = (person: TestPerson, name: string, body: object): Promise<Answer> =>
    person.call('POST', `/trpc/${name}`, { body })
  const look = async (person: TestPerson, path: string): Promise<Answer['body']> =>
    (await person.call('GET', `/v1${path}`)).body

  test('one key is one run with one answer, also for ten concurrent calls; another key is another run', async () => {
    const [caller, slug] = [await world.caller(), await world.prompt()]
    const input = { rdaSlug: slug, inputs: { say: 'hello' }, maxCost: 0.02, key: 'a' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => act(caller, 'runs.start', input)))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await look(caller, '/runs')).total).toBe(1)
    await act(caller, 'runs.start', { ...input, key: 'b' })
    await act(caller, 'runs.start', { ...input, key: undefined })
    expect((await look(caller, '/runs')).total).toBe(3)
  })

  test('a key belongs to one account and one request', async () => {
    const [caller, other, slug] = [await world.caller(), await world.caller(), await world.prompt()]
    const input = { rdaSlug: slug, inputs: { say: 'hello' }, key: 'mine' }
    const [mine, theirs] = [await act(caller, 'runs.start', input), await act(other, 'runs.start', input)]
    expect(mine.body.result.data.id).not.toBe(theirs.body.result.data.id)
    const changed = await act(caller, 'runs.start', { ...input, inputs: { say: 'else' } })
    expect([changed.status, changed.body.error.data.reason]).toEqual([409, 'idempotency_conflict'])
  })

  test('an id with a NUL character is an input error, in the dashboard and the API', async () => {
    const caller = await world.caller(0)
    const revoked = await act(caller, 'identity.keys.revoke', { id: 'a\u0000b' })
    expect([revoked.status, revoked.body.error.data.reason]).toEqual([400, 'invalid_input'])
    const deleted = await caller.call('DELETE', '/v1/keys/a%00b')
    expect([400, 404]).toContain(deleted.status)
  })

  test('money leaves and comes once', async () => {
    const caller = await world.caller(0)
    for (let time = 0; time < 3; time++) await act(caller, 'wallet.deposit', { amount: 10, key: 'in' })
    const out = { amount: 4, to: `0x${'22'.repeat(20)}`, key: 'out' }
    const [first, again] = [await act(caller, 'wallet.withdraw', out), await act(caller, 'wallet.withdraw', out)]
    expect(again.body).toEqual(first.body)
    expect((await look(caller, '/wallet/withdrawals')).total).toBe(1)
    expect((await look(caller, '/wallet/balance')).wallet).toMatchObject({ balance: 10, availableBalance: 6 })
  })

  test('a refusal is not stored: after a deposit, the same key buys', async () => {
    const caller = await world.caller(0)
    const input = { rdaSlug: await world.prompt(), inputs: { say: 'hello' }, key: 'poor' }
    expect((await act(caller, 'runs.start', input)).status).toBe(402)
    await act(caller, 'wallet.deposit', { amount: 1 })
    expect((await act(caller, 'runs.start', input)).status).toBe(200)
    expect((await look(caller, '/runs')).total).toBe(1)
  })

  test('a prompt’s source is paid for once, under any keys', async () => {
    const caller = await world.caller()
    const slug = await world.prompt({
      promptConfig: { promptTemplate: '{{say}}', allowedModels: ['sandbox/echo'], sourcePrice: 2 },
    })
    const { rda } = await look(caller, `/rda/${slug}`)
    await Promise.all([1, 2, 3].map(() => act(caller, 'assets.buySource', { id: rda.id, maxCost: 2 })))
    expect((await look(caller, '/wallet/balance')).wallet.balance).toBe(8)
  })

  test('a test payment, an agent and a call are made once', async () => {
    const caller = await world.caller()
    const created = await caller.call('POST', '/v1/checkouts', {
      body: {
        ...{ callbackUrl: world.server.on('/flow', () => ({ body: {} })), product: { name: 'Audit' }, price: 5 },
        ...{ network: 'base-sepolia', testMode: true },
      },
    })
    const { id } = created.body.checkout
    const slug = await world.tool({}, { name: 'Caller' })
    for (let time = 0; time < 3; time++) {
      expect((await act(caller, 'checkouts.testPayment', { id, key: 'k' })).status).toBe(200)
      expect((await act(caller, 'spending.createAgent', { name: 'Buyer', key: 'k' })).status).toBe(200)
      await act(caller, 'runs.start', { rdaSlug: slug, inputs: {}, key: 'k' })
    }
    expect((await look(caller, `/checkouts/${String(id)}/payments`)).total).toBe(1)
    expect((await look(caller, '/agents')).total).toBe(1)
  })

  test('an asset, paywall, endpoint or key is created once, and only the first answer has its secret', async () => {
    const caller = await world.caller()
    const endpoint = { url: 'http://127.0.0.1:9/hook', events: ['payment.completed'] }
    const paywall = {
      ...{ slug: `once-${caller.caller.user.id.slice(-8)}`, name: 'Once', upstreamUrl: 'http://127.0.0.1:9' },
      ...{ network: 'base-sepolia', testMode: true },
      routes: [{ method: 'GET', path: '/*', pricing: { model: 'per-request', amount: 0.01 } }],
    }
    const draft = promptBody()
    const secretless = { 'assets.create': draft, 'paywalls.create': paywall, 'webhooks.create': endpoint }
    const inputs = { ...secretless, 'identity.keys.create': { name: 'Program' } }
    for (const [name, body] of Object.entries(inputs)) {
      const [first, again] = [
        await act(caller, name, { ...body, key: 'k' }),
        await act(caller, name, { ...body, key: 'k' }),
      ]
      expect({ name, statuses: [first.status, again.status] }).toEqual({ name, statuses: [200, 200] })
      const result = first.body.result.data as { secret?: string }
      expect(again.body.result.data).toEqual('secret' in result ? { ...result, secret: null } : result)
      expect(result.secret ?? 'none').toMatch(name === 'assets.create' ? /^none$/ : /^\S{8,}$/)
    }
    expect((await look(caller, '/webhook-endpoints')).total).toBe(1)
    expect((await look(caller, '/paywalls')).total).toBe(1)
    const { keys } = (await look(caller, '/keys')) as { keys: { name: string }[] }
    expect(keys.filter(({ name }) => name === 'Program')).toHaveLength(1)
  })
})

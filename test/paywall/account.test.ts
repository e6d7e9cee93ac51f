import { findHoldDifferences } from '../../service/sales/store/held.ts'
import type { SaleRow } from '../../service/sales/store/rows.ts'
import { sendMcp, type Json } from '../harness/mcp.ts'
import type { TestPerson } from '../harness/service.ts'
import { walletKeys } from '../wallet/world.ts'
import { openWorld, until, type World } from './world.ts'

const PRICE = { model: 'per-request', amount: 0.5 }

/** A route's owner with a wallet here is paid by a buyer's account in the ledger: no chain is there at all. */
describe('a route that an account buys at', () => {
  let world: World
  let place: string | null = null
  let resume: () => void = () => undefined
  let count = 0

  /** The next call that gets there goes on after everything else, as that of a process that stood still. */
  const reach = (step: string) => {
    if (step !== place) return undefined
    place = null
    return new Promise<void>((resolve) => (resume = resolve))
  }

  beforeAll(async () => {
    world = await openWorld({ environment: await walletKeys(), failpoints: { reach } })
  })
  beforeEach(() => {
    world.upstream.requests.length = 0
  })
  afterEach(async () => {
    expect(await world.service.ledger.differences()).toEqual([])
    expect(await findHoldDifferences(world.service.database.statements)).toEqual([])
  })
  afterAll(() => world.close())

  /** A new seller, who is paid into the wallet here. Each route's name is its path. */
  async function sell(route: object = {}, terms: Record<string, unknown> = {}) {
    const seller = await world.service.person()
    const handle = `seller-${String(++count)}`
    expect((await seller.call('PATCH', '/v1/me', { body: { handle } })).status).toBe(200)
    const routes = [{ path: `/${handle}`, pricing: PRICE, ...route }]
    const { id } = await world.sell(routes, { recipient: undefined, ...terms }, seller)
    const { method = 'GET' } = route as { method?: string }
    const tool = `weather-${method.toLowerCase()}-${handle}`
    return { seller, id, at: `${world.service.origin}/m/${handle}/mcp`, tool, path: `/${handle}` }
  }
  type Sold = Awaited<ReturnType<typeof sell>>

  async function buyer(amount = 10): Promise<TestPerson> {
    const person = await world.service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount } })
    return person
  }
  async function send({ at, tool: name }: Sold, key: string | null, meta: Json = {}, input: Json = {}): Promise<Json> {
    const params = { name, arguments: input, _meta: meta }
    const headers = key === null ? {} : { authorization: `Bearer ${key}` }
    return await sendMcp(at, { method: 'tools/call', params }, headers)
  }
  const buy = async (sold: Sold, key: string, meta: Json = {}): Promise<Json> =>
    (await send(sold, key, meta))['result'] as Json
  const errorOf = (result: Json): Json => (result['structuredContent'] as Json)['error'] as Json
  async function wallet(person: TestPerson) {
    const { body } = await person.call('GET', '/v1/wallet/balance')
    const { balance, totalLocked: locked } = body.wallet as { balance: number; totalLocked: number }
    return { balance, locked }
  }
  const salesOf = ({ id }: Sold) =>
    world.service.database.statements.run<SaleRow>('SELECT * FROM sale WHERE subject = $1 ORDER BY id', [id])

  test('is one transfer in the ledger, and the API is called once', async () => {
    const [sold, person] = [await sell(), await buyer()]
    const named = { 'coinslot/idempotency-key': 'order-1' }
    const bought = await buy(sold, person.key, named)
    expect(bought).toMatchObject({
      structuredContent: { method: 'GET', url: sold.path },
      _meta: {
        'coinslot/status': 200,
        'coinslot/billing': { cost: 0.5, paymentId: expect.stringMatching(/^pay_/) },
        'coinslot/payment': { paymentToken: expect.stringMatching(/^tok_/) },
      },
    })
    expect(await buy(sold, person.key, named)).toEqual(bought)
    expect(world.upstream.requests).toHaveLength(1)
    expect([await wallet(person), await wallet(sold.seller)]).toEqual([
      { balance: 9.5, locked: 0 },
      { balance: 0.5, locked: 0 },
    ])
    const [sale, ...others] = await salesOf(sold)
    expect([sale, others]).toMatchObject([{ method: 'account', state: 'paid', digest: null, product: 'gate' }, []])
    // Anyone with its token fetches the answer again; nobody buys with it.
    expect(await send(sold, null, bought['_meta'] as Json)).toMatchObject({
      result: { structuredContent: { url: sold.path } },
    })
    expect(world.upstream.requests).toHaveLength(1)
  })

  test('a call that names its payment is answered from it; one that names no payment of it is refused', async () => {
    const [sold, other, person, stranger] = [await sell(), await sell(), await buyer(), await buyer()]
    const bought = await buy(sold, person.key)
    const { 'coinslot/payment': named } = bought['_meta'] as { 'coinslot/payment': { paymentId: string } }
    const { paymentId } = named
    for (const again of [named, { paymentId }]) {
      expect(await buy(sold, person.key, { 'coinslot/payment': again })).toEqual(bought)
    }
    const unknown = paymentId.replace(/.{4}$/, '0000')
    const refusals = [
      ['another account', await buy(sold, stranger.key, { 'coinslot/payment': named }), 'payment_not_found'],
      ['another route', await buy(other, person.key, { 'coinslot/payment': named }), 'invalid_payment'],
      ['no payment', await buy(sold, person.key, { 'coinslot/payment': { paymentId: unknown } }), 'payment_not_found'],
      ['no id', await buy(sold, person.key, { 'coinslot/payment': { paymentId: 'x\u0000' } }), 'payment_not_found'],
      ['no text', await buy(sold, person.key, { 'coinslot/payment': { paymentId: 7 } }), 'invalid_payment'],
      ['no object', await buy(sold, person.key, { 'coinslot/payment': paymentId }), 'invalid_payment'],
    ] as const
    for (const [what, refused, code] of refusals) expect([what, errorOf(refused)['code']]).toEqual([what, code])
    expect(world.upstream.requests).toHaveLength(1)
    expect([await wallet(person), await wallet(stranger)]).toEqual([
      { balance: 9.5, locked: 0 },
      { balance: 10, locked: 0 },
    ])
  })

  test('an agent’s call is answered from what that agent has bought', async () => {
    const [sold, person] = [await sell(), await buyer()]
    async function agent(): Promise<string> {
      const rules = { name: 'A', limits: { perDay: 5 } }
      const made = (await person.call('POST', '/v1/agents', { body: rules })).body.agent
      return (await person.call('POST', '/v1/keys', { body: { name: 'k', agentId: made.id } })).body.secret as string
    }
    const [one, two] = [await agent(), await agent()]
    const bought = await buy(sold, one)
    const { 'coinslot/payment': named } = bought['_meta'] as Json
    for (const key of [one, person.key]) expect(await buy(sold, key, { 'coinslot/payment': named })).toEqual(bought)
    expect(errorOf(await buy(sold, two, { 'coinslot/payment': named }))).toMatchObject({ code: 'payment_not_found' })
    const own = (await buy(sold, person.key))['_meta'] as Json
    expect(errorOf(await buy(sold, one, own))).toMatchObject({ code: 'payment_not_found' })
    expect([world.upstream.requests.length, await wallet(person)]).toEqual([2, { balance: 9, locked: 0 }])
  })

  test('a failed upstream costs nothing, before and after its process, and its owner is told once', async () => {
    const [sold, person] = [await sell(), await buyer()]
    const endpoint = { url: 'http://127.0.0.1:9/hook', events: ['payment.failed'] }
    expect((await sold.seller.call('POST', '/v1/webhook-endpoints', { body: endpoint })).status).toBe(201)
    world.upstream.on(sold.path, (_request, response) => response.writeHead(500).end('out of rain'))
    const named = { 'coinslot/idempotency-key': 'order-2' }
    const failed = errorOf(await buy(sold, person.key, named))
    expect(failed).toMatchObject({ code: 'upstream_error', upstream: { status: 500, message: 'out of rain' } })
    expect(failed['message']).toContain('Nothing was charged.')
    expect(await wallet(person)).toEqual({ balance: 10, locked: 0 })
    const [sale, ...others] = await salesOf(sold)
    expect([sale, others]).toMatchObject([{ state: 'failed', reason: 'upstream_error' }, []])
    const again = await buy(sold, person.key, { 'coinslot/payment': { paymentId: sale!.id } })
    expect([errorOf(again)['code'], world.upstream.requests.length]).toEqual(['not_bought', 1])
    expect(await wallet(sold.seller)).toEqual({ balance: 0, locked: 0 })
    const events = await world.service.database.statements.run<{ body: string }>('SELECT body FROM delivery', [])
    expect(
      events.map(({ body }) => JSON.parse(body) as Json).filter(({ data }) => (data as Json)['paywallId'] === sold.id),
    ).toMatchObject([{ event: 'payment.failed', data: { reason: 'upstream_error', amount: 0.5 } }])
  })

  test('what fails after it was paid for is owed: its token gets the answer', async () => {
    const [sold, person] = [await sell({ settle: 'before' }), await buyer()]
    let isWell = false
    world.upstream.on(sold.path, (_request, response) => {
      response.writeHead(isWell ? 200 : 503, { 'content-type': 'application/json' }).end(`{"well":${String(isWell)}}`)
    })
    const { message, paid, paymentId, paymentToken } = errorOf(await buy(sold, person.key))
    expect(message).toBe('The API answered with status 503. The payment has arrived: call again with its token.')
    expect(paid).toBe(true)
    isWell = true
    // With the key or without it.
    for (const key of [person.key, null]) {
      expect(await send(sold, key, { 'coinslot/payment': { paymentId, paymentToken } })).toMatchObject({
        result: { structuredContent: { well: true } },
      })
    }
    expect([await wallet(person), await wallet(sold.seller)]).toEqual([
      { balance: 9.5, locked: 0 },
      { balance: 0.5, locked: 0 },
    ])
  })

  test('sells to as many calls at once as the balance pays for', async () => {
    const [sold, person] = [await sell(), await buyer(1.7)]
    const results = await Promise.all(Array.from({ length: 12 }, () => buy(sold, person.key)))
    const refused = results.filter((result) => result['isError'] === true)
    expect(refused.map(errorOf)).toMatchObject(Array.from({ length: 9 }, () => ({ code: 'insufficient_balance' })))
    expect(world.upstream.requests).toHaveLength(3)
    expect([(await wallet(sold.seller)).balance, (await wallet(person)).balance]).toEqual([1.5, 0.2])
  })

  test('sells once to the same call that is sent many times at once', async () => {
    const [sold, person] = [await sell({ method: 'POST' }), await buyer()]
    const named = { 'coinslot/idempotency-key': 'order-3' }
    await Promise.all(Array.from({ length: 8 }, () => send(sold, person.key, named, { body: { a: 1 } })))
    expect([world.upstream.requests.length, (await wallet(sold.seller)).balance]).toEqual([1, 0.5])
    const { error } = await send(sold, person.key, named, { body: { a: 2 } })
    expect(error).toMatchObject({ message: expect.stringContaining('Idempotency-Key') })
    expect((await wallet(sold.seller)).balance).toBe(0.5)
  })

  test.each([
    ['sale claimed', { balance: 10, seller: 0, calls: 0, state: 'failed' }],
    ['sale settling', { balance: 9.5, seller: 0.5, calls: 1, state: 'paid' }],
    ['sale paid', { balance: 9.5, seller: 0.5, calls: 1, state: 'paid' }],
  ] as const)('what a process had begun that stood still after %s is ended by the sweeper', async (step, then) => {
    const [sold, person] = [await sell(), await buyer()]
    place = step
    const named = { 'coinslot/idempotency-key': `late-${step.replace(' ', '-')}` }
    const late = buy(sold, person.key, named)
    await until(() => place === null)
    world.service.clock.forward(240_000)
    await world.sweep()
    await until(async () => (await salesOf(sold))[0]?.state === then.state)
    const isPaid = then.state === 'paid'
    const again = await buy(sold, person.key, named)
    if (isPaid) expect(again).toMatchObject({ structuredContent: { url: sold.path } })
    else expect(errorOf(again)).toMatchObject({ code: 'not_bought' })
    expect(world.upstream.requests).toHaveLength(then.calls)
    resume()
    expect(await late).toMatchObject(isPaid ? { structuredContent: { url: sold.path } } : { isError: true })
    expect([await wallet(person), await wallet(sold.seller)]).toEqual([
      { balance: then.balance, locked: 0 },
      { balance: then.seller, locked: 0 },
    ])
  })

  test('no process releases it with its hold, not even one that knows of no holds', async () => {
    const [sold, person] = [await sell(), await buyer()]
    let open: () => void = () => undefined
    const opened = new Promise<void>((resolve) => (open = resolve))
    world.upstream.on(sold.path, (_request, response) => {
      void opened.then(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}'))
    })
    const bought = buy(sold, person.key)
    await until(() => world.upstream.requests.length === 1)
    const release = `UPDATE sale SET state = 'released', reason = 'interrupted', lease_until = NULL WHERE subject = $1`
    await expect(world.service.database.statements.run(release, [sold.id])).rejects.toThrow('its hold is open')
    expect(await wallet(person)).toEqual({ balance: 10, locked: 0.5 })
    open()
    expect(await bought).toMatchObject({ structuredContent: { done: true } })
  })

  test('a refund goes back to the account at once', async () => {
    const [sold, person] = [await sell(), await buyer()]
    await buy(sold, person.key)
    const [sale] = await salesOf(sold)
    const body = { reason: 'Wrong' }
    const { refund } = (await sold.seller.call('POST', `/v1/payments/${sale!.id}/refund`, { body })).body
    expect(refund).toMatchObject({ state: 'confirmed', from: 'account', amount: 0.5 })
    expect([(await wallet(person)).balance, (await wallet(sold.seller)).balance]).toEqual([10, 0])
  })

  test('an agent buys within its limits, or with an approval', async () => {
    const [sold, person] = [await sell(), await buyer()]
    async function agent(rules: object): Promise<string> {
      const made = (await person.call('POST', '/v1/agents', { body: { name: 'A', ...rules } })).body.agent
      return (await person.call('POST', '/v1/keys', { body: { name: 'k', agentId: made.id } })).body.secret as string
    }
    const [small, fine] = [await agent({ limits: { perCall: 0.1 } }), await agent({ limits: { perDay: 0.7 } })]
    expect(errorOf(await buy(sold, small))).toMatchObject({ code: 'spending_limit' })
    expect(await buy(sold, fine)).toMatchObject({ structuredContent: { url: sold.path } })
    expect(errorOf(await buy(sold, fine))).toMatchObject({ code: 'spending_limit' })
    const asks = await agent({ limits: { perDay: 5 }, approvalAbove: 0.1 })
    expect(errorOf(await buy(sold, asks))).toMatchObject({ code: 'approval_required' })
    expect(world.upstream.requests).toHaveLength(1)
    expect(await wallet(sold.seller)).toEqual({ balance: 0.5, locked: 0 })
  })
})

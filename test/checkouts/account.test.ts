import { findHoldDifferences } from '../../service/sales/store/held.ts'
import type { SaleRow } from '../../service/sales/store/rows.ts'
import { lockWaitedFor } from '../harness/locks.ts'
import { sendMcp, type Json } from '../harness/mcp.ts'
import type { TestPerson } from '../harness/service.ts'
import { walletKeys } from '../wallet/world.ts'
import { openWorld, until, type World } from './world.ts'

const INPUT = { site: 'https://example.com/' }
const FIELDS = [{ name: 'site', label: 'Site', type: 'url', required: true }]

/** A seller with a wallet here is paid by a buyer's account in the ledger: no chain is there at all. */
describe('a checkout that an account buys at', () => {
  let world: World
  let stopped: Promise<void> | null = null
  const reach = (place: string) => (place === 'sale claimed' ? (stopped ?? undefined) : undefined)

  beforeAll(async () => {
    const environment = { ...(await walletKeys()), WITHDRAWAL_LIMIT_PER_DAY: '20' }
    world = await openWorld({ environment, hooks: { failpoints: { reach } } })
  })
  beforeEach(async () => {
    await world.forget()
    world.workflow.answers({ delivery: { status: 200, body: '{"score":97}' } })
  })
  afterEach(async () => {
    expect(await world.service.ledger.differences()).toEqual([])
    expect(await findHoldDifferences(world.service.database.statements)).toEqual([])
  })
  afterAll(() => world.close())

  /** A new seller, who is paid into the wallet here. */
  async function sell(terms: object = {}) {
    const seller = await world.service.person()
    const more = { fields: FIELDS, responseMode: 'lastNode', price: 0.5, recipient: undefined, ...terms }
    const { id, checkout } = await world.sell(more, seller)
    return { seller, id, url: checkout.url as string }
  }
  async function buyer(amount = 10): Promise<TestPerson> {
    const person = await world.service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount } })
    return person
  }
  async function send(id: string, key: string, meta: Json = {}, input: Json = INPUT): Promise<Json> {
    const params = { name: 'seo-audit', arguments: input, _meta: meta }
    const headers = { authorization: `Bearer ${key}` }
    return await sendMcp(`${world.service.origin}/p/${id}/mcp`, { method: 'tools/call', params }, headers)
  }
  const buy = async (id: string, key: string, meta: Json = {}): Promise<Json> =>
    (await send(id, key, meta))['result'] as Json
  const errorOf = (result: Json): unknown => (result['structuredContent'] as Json)['error']
  async function wallet(person: TestPerson) {
    const { body } = await person.call('GET', '/v1/wallet/balance')
    const { balance, totalLocked: locked } = body.wallet as { balance: number; totalLocked: number }
    return { balance, locked }
  }
  const salesOf = (id: string) =>
    world.service.database.statements.run<SaleRow>('SELECT * FROM sale WHERE subject = $1 ORDER BY id', [id])
  const sweep = () => world.service.sales.sales(new Date(world.service.clock.now().getTime() + 60_000))

  test('is one transfer in the ledger, and the workflow runs once', async () => {
    const [{ seller, id }, person] = [await sell(), await buyer()]
    const named = { 'coinslot/idempotency-key': 'order-1' }
    const bought = await buy(id, person.key, named)
    expect(bought).toMatchObject({
      structuredContent: { score: 97 },
      _meta: {
        'coinslot/billing': { cost: 0.5, paymentId: expect.stringMatching(/^pay_/) },
        'coinslot/payment': { paymentToken: expect.stringMatching(/^tok_/) },
      },
    })
    expect(await buy(id, person.key, named)).toEqual(bought)
    expect(world.workflow.deliveries).toHaveLength(1)
    expect([await wallet(person), await wallet(seller)]).toEqual([
      { balance: 9.5, locked: 0 },
      { balance: 0.5, locked: 0 },
    ])
    const [sale, ...others] = await salesOf(id)
    expect(others).toEqual([])
    expect(sale).toMatchObject({ method: 'account', state: 'paid', digest: null })
    const { payment } = (await seller.call('GET', `/v1/payments/${sale!.id}`)).body
    expect(payment).toMatchObject({ state: 'paid', amount: 0.5, explorerUrl: null, txHash: `account:${sale!.id}` })
    const { transactions } = (await seller.call('GET', '/v1/wallet/transactions')).body
    expect(transactions).toMatchObject([{ type: 'sale', amount: 0.5 }])
    const { transactions: spent } = (await person.call('GET', '/v1/wallet/transactions')).body
    expect(spent[0]).toMatchObject({ type: 'charge', amount: -0.5, reference: expect.stringContaining(id) })
  })

  test('a call that names its payment is answered from it; one that names no payment of it is refused', async () => {
    const [{ id }, other, person, stranger] = [await sell(), await sell(), await buyer(), await buyer()]
    const bought = await buy(id, person.key)
    const { 'coinslot/payment': named } = bought['_meta'] as { 'coinslot/payment': { paymentId: string } }
    const { paymentId } = named
    for (const again of [named, { paymentId }]) {
      expect(await buy(id, person.key, { 'coinslot/payment': again })).toEqual(bought)
    }
    const unknown = paymentId.replace(/.{4}$/, '0000')
    const site = { site: 'https://other.example/' }
    const elsewhere = (await send(id, person.key, { 'coinslot/payment': named }, site))['result'] as Json
    const refusals = [
      ['another account', await buy(id, stranger.key, { 'coinslot/payment': named }), 'payment_not_found'],
      ['another checkout', await buy(other.id, person.key, { 'coinslot/payment': named }), 'payment_not_found'],
      ['another input', elsewhere, 'authorization_used'],
      ['no payment', await buy(id, person.key, { 'coinslot/payment': { paymentId: unknown } }), 'payment_not_found'],
      ['no text', await buy(id, person.key, { 'coinslot/payment': { paymentId: 7 } }), 'invalid_payment'],
    ] as const
    for (const [what, refused, code] of refusals) expect([what, errorOf(refused)]).toMatchObject([what, { code }])
    expect(world.workflow.deliveries).toHaveLength(1)
    expect([await wallet(person), await wallet(stranger)]).toEqual([
      { balance: 9.5, locked: 0 },
      { balance: 10, locked: 0 },
    ])
  })

  test('a call that names its payment is answered in test mode, and after the end of the checkout', async () => {
    const [{ seller, id }, person] = [await sell(), await buyer()]
    const bought = await buy(id, person.key)
    const named = { 'coinslot/payment': (bought['_meta'] as Json)['coinslot/payment'] }
    expect((await seller.call('PATCH', `/v1/checkouts/${id}`, { body: { testMode: true } })).status).toBe(200)
    expect(await buy(id, person.key, named)).toEqual(bought)
    expect(await buy(id, person.key)).toMatchObject({ _meta: { 'coinslot/simulated': true } })
    expect((await seller.call('DELETE', `/v1/checkouts/${id}`)).status).toBeLessThan(300)
    expect(await buy(id, person.key, named)).toEqual(bought)
    expect(errorOf(await buy(id, person.key))).toMatchObject({ code: 'checkout_not_found' })
    expect((await wallet(person)).balance).toBe(9.5)
  })

  test('sells to as many calls at once as the balance pays for', async () => {
    const [{ seller, id }, person] = [await sell(), await buyer(1.7)]
    const results = await Promise.all(Array.from({ length: 12 }, () => buy(id, person.key)))
    const refused = results.filter((result) => result['isError'] === true)
    expect(refused.map(errorOf)).toMatchObject(Array.from({ length: 9 }, () => ({ code: 'insufficient_balance' })))
    expect(world.workflow.deliveries).toHaveLength(3)
    expect((await wallet(seller)).balance).toBe(1.5)
    expect((await wallet(person)).balance).toBe(0.2)
  })

  test('sells once to the same call that is sent many times at once', async () => {
    const [{ seller, id }, person] = [await sell(), await buyer()]
    const named = { 'coinslot/idempotency-key': 'order-2' }
    await Promise.all(Array.from({ length: 8 }, () => buy(id, person.key, named)))
    expect((await wallet(seller)).balance).toBe(0.5)
    expect(world.workflow.deliveries).toHaveLength(1)
    const { error } = await send(id, person.key, named, { site: 'https://other.example/' })
    expect(error).toMatchObject({ message: expect.stringContaining('Idempotency-Key') })
    expect((await wallet(seller)).balance).toBe(0.5)
  })

  test.each(['onSuccess', 'onPayment'] as const)('with capture %s a failed order costs nothing', async (capture) => {
    const [{ seller, id }, person] = [await sell({ capture, refundOnFailure: capture === 'onPayment' }), await buyer()]
    world.workflow.answers({ delivery: { status: 410, body: '{"error":"no data"}' } })
    const failed = await buy(id, person.key)
    if (capture === 'onSuccess') expect(errorOf(failed)).toMatchObject({ code: 'workflow_failed' })
    await until(async () => (await wallet(person)).balance === 10)
    expect(await wallet(person)).toEqual({ balance: 10, locked: 0 })
    expect(await wallet(seller)).toEqual({ balance: 0, locked: 0 })
    const [sale] = await salesOf(id)
    expect(sale!.state).toBe(capture === 'onSuccess' ? 'failed' : 'refunded')
  })

  test('with capture onSuccess it is charged once the work is done', async () => {
    const [{ seller, id }, person] = [await sell({ capture: 'onSuccess' }), await buyer()]
    const open = world.workflow.holds()
    const bought = buy(id, person.key)
    await until(() => world.workflow.deliveries.length === 1)
    // No process ends the sale without its hold, not even one that knows of no holds.
    for (const state of ['paid', 'failed']) {
      const ending = `UPDATE sale SET state = '${state}', reason = 'x', tx_hash = 'x', ended_at = now() WHERE subject = $1`
      await expect(world.service.database.statements.run(ending, [id])).rejects.toThrow('its hold is open')
    }
    expect([await wallet(person), await wallet(seller)]).toEqual([
      { balance: 10, locked: 0.5 },
      { balance: 0, locked: 0 },
    ])
    open()
    expect(await bought).toMatchObject({ structuredContent: { score: 97 } })
    expect([await wallet(person), await wallet(seller)]).toEqual([
      { balance: 9.5, locked: 0 },
      { balance: 0.5, locked: 0 },
    ])
  })

  test('a failed order that waits in a circle with a purchase by the same code fails all the same', async () => {
    const { pool } = world.service.database
    const [{ seller, id }, person] = [await sell({ capture: 'onSuccess', coupons: true }), await buyer()]
    const { coupon } = (await seller.call('POST', '/v1/coupons', { body: { code: 'HALF', percent: 50 } })).body
    const open = world.workflow.holds()
    const bought = send(id, person.key, {}, { ...INPUT, _choice: { coupon: 'HALF' } })
    await until(() => world.workflow.deliveries.length === 1)
    const [sale] = await salesOf(id)
    // A purchase of the same account by another process counts the code first, and what leaves the account after it.
    const other = await pool.connect()
    await other.query('BEGIN')
    await other.query('SELECT 1 FROM coupon WHERE id = $1 FOR UPDATE', [coupon.id])
    const failed = seller.call('POST', `/v1/payments/${sale!.id}/outcome`, { body: { status: 'failed' } })
    await lockWaitedFor(world.service.database.statements)
    const counter = `outflow sandbox/${person.caller.user.id}`
    // PostgreSQL ends whichever of the two it looks at first, on a busy machine also this one.
    const sql = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))'
    await other.query(sql, [counter]).catch((error: unknown) => {
      expect(error).toMatchObject({ code: '40P01' })
    })
    await other.query('COMMIT')
    other.release()
    expect([(await failed).status, await wallet(person)]).toEqual([200, { balance: 10, locked: 0 }])
    open()
    await bought
    expect(await wallet(seller)).toEqual({ balance: 0, locked: 0 })
  })

  test('a refund goes back to the account at once', async () => {
    const [{ seller, id }, person] = [await sell(), await buyer()]
    await buy(id, person.key)
    const [sale] = await salesOf(id)
    const refund = async (part: { amount?: number } = {}) => {
      const { body } = await seller.call('POST', `/v1/payments/${sale!.id}/refund`, {
        body: { reason: 'Wrong', ...part },
      })
      return body.refund as Json
    }
    expect(await refund({ amount: 0.2 })).toMatchObject({ state: 'confirmed', from: 'account', amount: 0.2 })
    expect((await wallet(person)).balance).toBe(9.7)
    expect(await refund()).toMatchObject({ state: 'confirmed', amount: 0.3 })
    expect([(await wallet(person)).balance, (await wallet(seller)).balance]).toEqual([10, 0])
    expect((await salesOf(id))[0]!.state).toBe('refunded')
  })

  test('an agent buys within its limits, or with an approval', async () => {
    const [{ seller, id }, person] = [await sell(), await buyer()]
    async function agent(rules: object): Promise<string> {
      const made = (await person.call('POST', '/v1/agents', { body: { name: 'A', ...rules } })).body.agent
      return (await person.call('POST', '/v1/keys', { body: { name: 'k', agentId: made.id } })).body.secret as string
    }
    const [small, none, fine] = [
      await agent({ limits: { perCall: 0.1 } }),
      await agent({}),
      await agent({ limits: { perDay: 1.2 } }),
    ]
    expect(errorOf(await buy(id, small))).toMatchObject({ code: 'spending_limit' })
    expect(errorOf(await buy(id, none))).toMatchObject({ code: 'limits_required' })
    const bought = await Promise.all(Array.from({ length: 4 }, () => buy(id, fine)))
    expect(bought.filter((result) => result['isError'] === true).map(errorOf)).toMatchObject([
      { code: 'spending_limit' },
      { code: 'spending_limit' },
    ])
    expect((await wallet(seller)).balance).toBe(1)
    const asks = await agent({ limits: { perDay: 5 }, approvalAbove: 0.1 })
    expect(errorOf(await buy(id, asks))).toMatchObject({ code: 'approval_required' })
    expect((await wallet(seller)).balance).toBe(1)
  })

  test('the brake on payouts stops it, and the rules of an agent for addresses hold', async () => {
    const [{ seller, id, url }, person] = [await sell(), await buyer()]
    const rules = { limits: { perDay: 5 }, domains: { deny: [new URL(url).hostname] } }
    const { agent } = (await person.call('POST', '/v1/agents', { body: { name: 'A', ...rules } })).body
    const made = await person.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })
    const denied = errorOf(await buy(id, made.body.secret as string))
    expect([denied, JSON.stringify(denied)]).toEqual([
      expect.objectContaining({ code: 'spending_limit' }),
      expect.stringContaining('domains.deny'),
    ])
    await world.service.outflow.setPaused(true)
    expect(errorOf(await buy(id, person.key))).toMatchObject({ code: 'payouts_paused' })
    await world.service.outflow.setPaused(false)
    expect(await wallet(person)).toEqual({ balance: 10, locked: 0 })
    expect(await wallet(seller)).toEqual({ balance: 0, locked: 0 })
    expect(await salesOf(id)).toEqual([])
  })

  test('what a dead process has begun is paid by the sweeper, once', async () => {
    const [{ seller, id }, person] = [await sell(), await buyer()]
    let resume: () => void = () => undefined
    stopped = new Promise((resolve) => (resume = resolve))
    const first = buy(id, person.key)
    await until(async () => (await salesOf(id)).length === 1)
    expect(await wallet(person)).toEqual({ balance: 10, locked: 0.5 })
    await sweep()
    await until(async () => (await wallet(seller)).balance === 0.5)
    stopped = null
    resume()
    expect(await first).toMatchObject({ structuredContent: { score: 97 } })
    expect(await wallet(person)).toEqual({ balance: 9.5, locked: 0 })
    expect(world.workflow.deliveries).toHaveLength(1)
  })

  test('counts as money that leaves the account, and what came back does not', async () => {
    const [{ seller, id }, person] = [await sell({ price: 15, capture: 'onSuccess' }), await buyer(60)]
    world.workflow.answers({ delivery: { status: 410, body: '{}' } })
    await buy(id, person.key)
    world.workflow.answers({ delivery: { status: 200, body: '{}' } })
    await buy(id, person.key)
    expect(errorOf(await buy(id, person.key))).toMatchObject({ code: 'withdrawal_limit' })
    expect(await wallet(seller)).toEqual({ balance: 15, locked: 0 })
  })

  test('one buys at its own checkout', async () => {
    const { seller, id } = await sell()
    await seller.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })
    expect(await buy(id, seller.key)).toMatchObject({ structuredContent: { score: 97 } })
    expect(await wallet(seller)).toEqual({ balance: 1, locked: 0 })
  })
})

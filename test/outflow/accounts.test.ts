import { runWorld, type RunWorld } from '../marketplace/runs/world.ts'
import type { TestPerson } from '../harness/service.ts'
import { addSale, refund } from '../refunds/sales.ts'

const TO = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02914'

describe('money that goes to another account of this server', () => {
  let world: RunWorld
  let fails = ''
  beforeAll(async () => {
    world = await runWorld({ WITHDRAWAL_LIMIT_PER_DAY: '5', WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '8' })
    world.server.on('/agent', () => ({ body: { status: 'completed', output: 'done' } }))
    fails = world.server.on('/fails', () => ({ status: 500 }))
  })
  afterEach(async () => {
    await world.service.outflow.setPaused(false)
    expect(await world.service.ledger.differences()).toEqual([])
  })
  afterAll(() => world.close())

  const priced = (amount: number) => world.prompt({ pricing: { model: 'per-run', amount } })
  const codeOf = async (answer: Promise<{ status: number; body: { code?: string } | undefined }>) => {
    const { status, body } = await answer
    return status < 300 ? status : (body?.code ?? status)
  }
  const withdraw = (person: TestPerson, amount: number) =>
    codeOf(person.call('POST', '/v1/wallet/withdraw', { body: { amount, to: TO } }))
  const left = async ({ caller: { user, environment } }: TestPerson) =>
    Number((await world.service.outflow.terms({ userId: user.id, environment })).left) / 1e6

  /** A sale of the seller that the buyer paid from their account, through its payer wallet. */
  async function paidSale(seller: TestPerson, buyer: TestPerson, amount: number): Promise<string> {
    const payer = `0x${Buffer.from(buyer.caller.user.id).toString('hex').slice(-40)}`
    await world.service.database.statements.run(
      `INSERT INTO spending_payer (address, user_id, environment, created_at) VALUES ($1, $2, 'sandbox', now())
       ON CONFLICT DO NOTHING`,
      [payer, buyer.caller.user.id],
    )
    return await addSale(world.service, seller, { payer, amount: amount * 1_000_000 })
  }

  test('includes refunds to accounts, which wait when the daily limit is reached', async () => {
    const [seller, buyer] = [await world.caller(20), await world.caller(0)]
    expect((await refund(seller, await paidSale(seller, buyer, 3), {})).body.refund).toMatchObject({
      ...{ from: 'account', state: 'confirmed' },
    })
    expect(await left(seller)).toBe(2)
    expect((await refund(seller, await paidSale(seller, buyer, 2.5), {})).body.refund).toMatchObject({
      ...{ from: 'account', state: 'requested', waitsFor: { code: 'withdrawal_limit' } },
    })
    expect(await withdraw(seller, 2.5)).toBe('withdrawal_limit')
    expect([(await world.wallet(seller)).balance, (await world.wallet(buyer)).balance]).toEqual([17, 3])
  })

  test('is held back while payouts are paused, if it is a refund, and sent afterwards', async () => {
    const [seller, buyer] = [await world.caller(20), await world.caller(0)]
    await world.service.outflow.setPaused(true)
    const sale = await paidSale(seller, buyer, 2)
    expect((await refund(seller, sale, {})).body.refund).toMatchObject({ waitsFor: { code: 'payouts_paused' } })
    expect((await world.wallet(buyer)).balance).toBe(0)
    await world.service.outflow.setPaused(false)
    world.service.clock.forward(6_000)
    await world.service.refunds.retryDue(world.service.clock.now(), new AbortController().signal)
    expect([(await world.wallet(seller)).balance, (await world.wallet(buyer)).balance]).toEqual([18, 2])
    expect(await left(seller)).toBe(3)
  })

  test("runs of another account's asset above the sum count, and nothing is charged beyond the limit", async () => {
    const caller = await world.caller(90)
    const [dear, small] = [await priced(4), await priced(1)]
    expect(await codeOf(world.run(caller, dear))).toBe(200)
    expect(await left(caller)).toBe(1)
    const refused = await world.run(caller, dear)
    expect([refused.status, refused.body]).toMatchObject([
      403,
      { code: 'withdrawal_limit', limit: 5, taken: 4, requested: 4 },
    ])
    expect(await world.wallet(caller)).toMatchObject({ balance: 86, availableBalance: 86 })
    expect(await withdraw(caller, 2)).toBe('withdrawal_limit')
    // Runs up to the sum go on.
    expect(await codeOf(world.run(caller, small))).toBe(200)
    world.service.clock.forward(86_400_001)
    expect(await codeOf(world.run(caller, dear))).toBe(200)
  })

  test('does not exceed the limit with concurrent runs, which delay no small ones', async () => {
    const caller = await world.caller(90)
    const [dear, small] = [await priced(2), await priced(0.1)]
    const codes = await Promise.all(
      Array.from({ length: 12 }, (_, place) => codeOf(world.run(caller, place % 2 === 0 ? dear : small))),
    )
    expect(codes.filter((_, place) => place % 2 === 0).sort()).toEqual([200, 200, ...Array(4).fill('withdrawal_limit')])
    expect(codes.filter((_, place) => place % 2 === 1)).toEqual(Array(6).fill(200))
    expect((await world.wallet(caller)).balance).toBeCloseTo(85.4, 6)
  })

  test('is freed for a failed or canceled run, and for the unused part of a per-second run', async () => {
    const caller = await world.caller(90)
    const topic = { inputs: { topic: 'x' } }
    const failing = await world.agent({ webhookUrl: fails, basePrice: 4 })
    expect((await world.run(caller, failing, topic)).status).toBe(500)
    expect(await left(caller)).toBe(5)
    const queued = await world.run(caller, failing, { ...topic, async: true })
    expect([queued.status, await left(caller)]).toEqual([202, 1])
    expect((await caller.call('POST', `/v1/runs/${String(queued.body.runId)}/cancel`)).status).toBe(200)
    expect(await left(caller)).toBe(5)
    const bySecond = await world.agent(
      { webhookUrl: world.server.url('/agent'), timeoutSeconds: 40 },
      { pricing: { model: 'per-second', amount: 0.1 } },
    )
    expect(await codeOf(world.run(caller, bySecond, topic))).toBe(200)
    expect(await left(caller)).toBeCloseTo((await world.wallet(caller)).balance - 85, 6)
    expect(await left(caller)).toBeGreaterThan(4)
  })

  test('is stopped while payouts are paused, except for runs below the threshold', async () => {
    const caller = await world.caller(90)
    const [dear, small] = [await priced(2), await priced(0.5)]
    await world.service.outflow.setPaused(true)
    expect(await codeOf(world.run(caller, dear))).toBe('payouts_paused')
    expect(await world.wallet(caller)).toMatchObject({ balance: 90, availableBalance: 90 })
    expect(await codeOf(world.run(caller, small))).toBe(200)
    // An account's own asset moves nothing to another one.
    await world.creator.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    expect(await codeOf(world.run(world.creator, dear))).toBe(200)
  })

  test('includes templates above the threshold, which are not sold while payouts are paused', async () => {
    const buyer = await world.caller(90)
    const template = (sourcePrice: number) =>
      world.prompt({ promptConfig: { promptTemplate: '{{say}}', allowedModels: ['sandbox/echo'], sourcePrice } })
    const [dear, other, small] = [await template(4), await template(2), await template(0.5)]
    const buy = (slug: string) => codeOf(buyer.call('POST', `/v1/rda/${slug}/source`))
    await world.service.outflow.setPaused(true)
    expect([await buy(dear), await buy(small)]).toEqual(['payouts_paused', 200])
    await world.service.outflow.setPaused(false)
    expect([await buy(dear), await buy(dear), await buy(other)]).toEqual([200, 200, 'withdrawal_limit'])
    expect((await world.wallet(buyer)).balance).toBe(85.5)
    expect(await left(buyer)).toBe(1)
  })

  test('does not count toward the limit of all accounts, so purchases block no withdrawals', async () => {
    world.service.clock.forward(86_400_001)
    const dear = await priced(5)
    for (const caller of [await world.caller(10), await world.caller(10)]) {
      expect(await codeOf(world.run(caller, dear))).toBe(200)
    }
    expect(await withdraw(await world.caller(10), 5)).toBe(200)
    expect(await withdraw(await world.caller(10), 4)).toBe('withdrawal_limit')
  })
})

describe('an agent without limits', () => {
  let world: RunWorld
  beforeAll(async () => {
    world = await runWorld({ AGENT_DEFAULT_PER_DAY: '3' })
  })
  afterAll(() => world.close())

  async function agentOf(person: TestPerson, rules: object = {}) {
    const { agent } = (await person.call('POST', '/v1/agents', { body: { name: 'A', ...rules } })).body
    const { secret: key } = (await person.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })).body
    const run = async (slug: string) => {
      const { status, body } = await world.service.call('POST', '/v1/run', {
        key,
        body: { rdaSlug: slug, inputs: { say: 'hi' } },
      })
      return { status, body }
    }
    return { id: agent.id as string, shown: agent.defaultPerDay as number | null, run }
  }
  const priced = (amount: number) => world.prompt({ pricing: { model: 'per-run', amount } })

  test("spends no more than the default of a day on others' assets, and its owner sees it", async () => {
    const owner = await world.caller(90)
    const [dear, small] = [await priced(80), await priced(1)]
    const { id, shown, run } = await agentOf(owner)
    expect(shown).toBe(3)
    expect((await owner.call('GET', `/v1/agents/${id}`)).body.agent.defaultPerDay).toBe(3)
    const { status, body } = await run(dear)
    expect([status, body]).toMatchObject([
      403,
      {
        error:
          'An agent without limits may spend 3 USDC a day on assets of other accounts. Set a limit for this agent to allow more.',
        ...{ code: 'limits_required', limit: 'limits', allowed: 3, spent: 0, requested: 80 },
        resetsAt: expect.stringMatching(/T00:00:00\.000Z$/),
      },
    ])
    const answers = await Promise.all(Array.from({ length: 8 }, () => run(small)))
    expect(answers.map((one) => one.status).sort()).toEqual([200, 200, 200, 403, 403, 403, 403, 403])
    expect((await world.wallet(owner)).balance).toBe(87)
    const check = { kind: 'run', target: small, amount: 1 }
    expect((await owner.call('POST', `/v1/agents/${id}/check`, { body: check })).body).toMatchObject({
      outcome: 'refused',
      limit: 'limits',
      allowed: 3,
      spent: 3,
    })
    world.service.clock.forward(86_400_000)
    expect((await run(small)).status).toBe(200)
  })

  test("is not bound by it for its owner's assets, with a limit of its own, or with approvals", async () => {
    await world.creator.call('POST', '/v1/wallet/deposit', { body: { amount: 50 } })
    const [owner, dear] = [await world.caller(90), await priced(20)]
    expect((await (await agentOf(world.creator)).run(dear)).status).toBe(200)
    const limited = await agentOf(owner, { limits: { perDay: 30 } })
    expect(limited.shown).toBeNull()
    expect((await limited.run(dear)).status).toBe(200)
    const watched = await agentOf(owner, { approvalAbove: 5 })
    expect((await watched.run(dear)).body).toMatchObject({ code: 'approval_required' })
  })
})

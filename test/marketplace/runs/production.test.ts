import { randomBytes } from 'node:crypto'
import { usdc } from '../../../service/kit/money.ts'
import type { TestPerson } from '../../harness/service.ts'
import { piece, stream, Vendor } from './vendor.ts'
import { runWorld, type RunWorld } from './world.ts'

/* Prompts on a model that costs something. gpt-4.1: 2 dollars for a million tokens in, 8 out. */
describe('prompts on a paid model', () => {
  const vendor = new Vendor()
  let world: RunWorld
  let creator: TestPerson
  let caller: TestPerson
  let settings: Record<string, string>

  beforeAll(async () => {
    settings = {
      LIVE: 'true',
      AUTH_SECRET: randomBytes(32).toString('hex'),
      VAULT_KEY: `test:${randomBytes(32).toString('base64')}`,
      MODELS_BASE_URL: await vendor.listen(),
      MODELS_API_KEY: 'sk-operator',
      PLATFORM_FEE_BPS: '1000',
    }
    world = await runWorld(settings)
    creator = await world.service.person({ environment: 'production' })
    caller = await world.service.person({ environment: 'production' })
    await fund(caller, 1_000_000n)
    // 1,000 tokens in and 500 out: 0.002 + 0.004 dollars for the vendor.
    vendor.answer = (response) =>
      stream(response, [
        piece('answer', 'stop'),
        { choices: [], usage: { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 } },
      ])
  })
  afterAll(async () => {
    await world.close()
    await vendor.close()
  })

  async function fund(person: TestPerson, amount: bigint, { service } = world): Promise<void> {
    const owner = { userId: person.caller.user.id, environment: 'production' as const }
    const id = `dep.test.${owner.userId}`
    await service.ledger.credit({ id, kind: 'deposit', owner, amount: usdc(amount), reference: null, act: id })
  }

  async function publish(slug: string, pricing: Record<string, unknown>, by = creator): Promise<string> {
    const created = await by.call('POST', '/v1/rda', {
      body: {
        slug,
        type: 'prompt',
        name: 'Paid',
        description: 'On a paid model',
        inputSchema: [{ name: 'say', label: 'Say', type: 'text', required: true }],
        promptConfig: { promptTemplate: `{{say}} ${'word '.repeat(990)}`, allowedModels: ['gpt-4.1'] },
        pricing,
      },
    })
    expect([created.status, created.text]).toEqual([201, expect.any(String)])
    await by.call('POST', `/v1/rda/${created.body.rda.id as string}/publish`)
    return slug
  }

  async function unpaid(
    as: '' | 'creator',
    { caller: { user } }: TestPerson,
    cost: bigint,
    { service } = world,
  ): Promise<void> {
    const account = `production/${user.id}`
    await service.database.statements.run(
      `INSERT INTO run_free (at, owner, caller, used, unpaid) VALUES (date_trunc('day', $1::timestamptz, 'UTC'), $2, $3, 0, $4)`,
      [service.clock.now(), as === '' ? '' : account, as === '' ? account : '', cost],
    )
  }

  const revenue = async () => {
    const [row] = await world.service.database.statements.run<{ available: bigint }>(
      "SELECT sum(available)::bigint AS available FROM ledger_account WHERE owner = 'platform' AND kind = 'revenue' AND environment = 'production'",
      [],
    )
    return row!.available
  }
  const balance = async (person: TestPerson) => (await world.wallet(person)).balance

  test("the model's cost goes to the platform first, then its fee of the rest, then the creator's share", async () => {
    const before = await revenue()
    const { status, body } = await world.run(caller, await publish('dear', { model: 'per-run', amount: 0.1 }))
    expect([status, body.cost]).toEqual([200, 0.1])
    // 0.1 - 0.006 is 0.094, of which a tenth is the fee.
    expect(await balance(creator)).toBe(0.0846)
    expect((await revenue()) - before).toBe(15_400n)
  })

  test("a price below the model's cost is raised to it, and the creator has nothing of it", async () => {
    const before = await balance(creator)
    const slug = await publish('cheap', { model: 'per-run', amount: 0.000001 })
    const { body } = await world.run(caller, slug)
    expect(body.cost).toBe(0.006)
    // What is held at most is shown to its buyers before.
    const { pricing } = (await caller.call('GET', `/v1/rda/${slug}`)).body.rda
    const { run } = (await caller.call('GET', `/v1/runs/${String(body.runId)}`)).body
    expect(pricing.amount).toBe(0.000001)
    expect(pricing.maxCost).toBeGreaterThanOrEqual(Number(run.maxCost))
    expect(pricing.estimatedCost).toMatch(new RegExp(` - ${String(pricing.maxCost)}0* USDC$`))
    expect(await balance(creator)).toBe(before)
  })

  test('an input longer than the estimate allows for is started from a page whose price has not changed', async () => {
    const slug = await publish('long', { model: 'per-run', amount: 0.000001 })
    const { model, amount, maxCost } = (await caller.call('GET', `/v1/rda/${slug}`)).body.rda.pricing
    const body = { rdaSlug: slug, inputs: { say: 'a '.repeat(4_000) }, pricing: { model, amount }, key: 'long' }
    const { status, body: started } = await caller.call('POST', '/trpc/runs.start', { body })
    expect([status, started.error]).toEqual([200, undefined])
    const { run } = (await caller.call('GET', `/v1/runs/${String(started.result.data.id)}`)).body
    expect(Number(run.maxCost)).toBeGreaterThan(Number(maxCost))
  })

  test("per-token runs cost the price per thousand, and at least the model's cost", async () => {
    const { body } = await world.run(caller, await publish('tokens', { model: 'per-token', amount: 0.01 }))
    expect(body.cost).toBe(0.015)
  })

  test('a usage beyond the hold is charged at the hold', async () => {
    const usage = { prompt_tokens: 900_000, completion_tokens: 900_000, total_tokens: 1_800_000 }
    const answer = vendor.answer
    vendor.answer = (response) => stream(response, [piece('a', 'stop'), { choices: [], usage }])
    const { body } = await world.run(caller, await publish('flood', { model: 'per-run', amount: 0.01 }))
    vendor.answer = answer
    const { run } = (await caller.call('GET', `/v1/runs/${body.runId as string}`)).body
    expect(body.cost).toBe(run.maxCost)
    expect(run.maxCost).toBeLessThan(0.05)
  })

  test("a free prompt charges its creator's wallet, and not the caller", async () => {
    const before = [await balance(caller), await balance(creator)]
    const { body } = await world.run(caller, await publish('free', { model: 'free' }))
    expect(body.cost).toBe(0)
    expect(await balance(caller)).toBe(before[0])
    expect(await balance(creator)).toBeCloseTo(before[1]! - 0.006, 6)
  })

  test('a day of one caller has so many free runs, and then none until the next', async () => {
    const [who, free] = [
      await world.service.person({ environment: 'production' }),
      await publish('drain', { model: 'free' }),
    ]
    await world.service.database.statements.run(
      `INSERT INTO run_free (at, owner, caller, used) VALUES (date_trunc('day', $1::timestamptz, 'UTC'), 'production/' || $2, $3, 20)`,
      [world.service.clock.now(), creator.caller.user.id, who.caller.user.id],
    )
    const [requestsBefore, before] = [vendor.requests.length, await balance(creator)]
    const { status, body } = await world.run(who, free)
    expect([status, body.code]).toEqual([429, 'free_runs_used_up'])
    expect([vendor.requests.length, await balance(creator)]).toEqual([requestsBefore, before])
    world.service.clock.forward(86_400_000)
    expect((await world.run(who, free)).status).toBe(200)
  })

  test('a creator can limit the free runs of a prompt per day', async () => {
    const slug = await publish('bounded', { model: 'free' })
    const edited = await creator.call('PATCH', `/v1/rda/${slug}`, { body: { promptConfig: { freeRunsPerDay: 1 } } })
    expect([edited.status, edited.body.rda.promptConfig.freeRunsPerDay]).toEqual([200, 1])
    expect((await world.run(caller, slug)).status).toBe(200)
    const [requestsBefore, before] = [vendor.requests.length, await balance(creator)]
    const other = await world.service.person({ environment: 'production' })
    for (const who of [caller, other]) {
      const { status, body, headers } = await world.run(who, slug)
      expect([status, body.code, body.resetsAt]).toEqual([429, 'free_runs_used_up', expect.any(String)])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect([vendor.requests.length, await balance(creator)]).toEqual([requestsBefore, before])
    const wrong = await creator.call('PATCH', `/v1/rda/${slug}`, { body: { promptConfig: { freeRunsPerDay: -1 } } })
    expect([wrong.status, Object.keys(wrong.body.details as object)]).toEqual([400, ['promptConfig.freeRunsPerDay']])
  })

  test('a free prompt of a creator without money does not run, and does not reveal the balance', async () => {
    const poor = await world.service.person({ environment: 'production' })
    const requestsBefore = vendor.requests.length
    const answer = await world.run(caller, await publish('unfunded', { model: 'free' }, poor))
    expect(answer.status).toBe(503)
    expect(answer.body).toEqual({
      error: expect.any(String),
      code: 'creator_unfunded',
      requestId: expect.any(String),
      runId: expect.stringMatching(/^run_/),
    })
    expect(vendor.requests).toHaveLength(requestsBefore)
  })

  const failures: [string, readonly unknown[]][] = [
    ['without a text', [piece('', 'stop')]],
    ['that its filter refused', [piece('', 'content_filter')]],
    ['that broke off', [piece('half')]],
  ]
  test.each(failures)('answers %s that a vendor billed are bounded for a caller', async (_, pieces) => {
    const answer = vendor.answer
    // 0.006 dollars for each.
    const usage = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 }
    vendor.answer = (response) => stream(response, [...pieces, { choices: [], usage }])
    const own = await world.service.person({ environment: 'production' })
    await fund(own, 1_000_000n)
    const slug = await publish(`silent-${String(failures.findIndex(([name]) => name === _))}`, {
      model: 'per-run',
      amount: 0.1,
    })
    await unpaid('', own, 989_000n)
    const before = vendor.requests.length
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await world.run(own, slug)).status)
    const refused = await world.run(own, slug)
    vendor.answer = answer
    expect(statuses).toEqual([500, 500, 429, 429])
    expect(vendor.requests.length - before).toBe(2)
    expect(refused.body).toMatchObject({ code: 'unpaid_model_costs', resetsAt: expect.any(String) })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // Others are not concerned, and a new day begins anew.
    expect((await world.run(caller, slug)).status).toBe(200)
    world.service.clock.forward(86_400_000)
    expect((await world.run(own, slug)).status).toBe(200)
  })

  test("what vendors bill for failed runs of a creator's prompts is bounded, and a waiting run is not begun", async () => {
    const other = await runWorld(settings)
    const [by, buyer] = [
      await other.service.person({ environment: 'production' }),
      await other.service.person({ environment: 'production' }),
    ]
    await fund(buyer, 1_000_000n, other)
    const slug = await publish('exhausted', { model: 'per-run', amount: 0.1 }, by)
    const { body } = await other.run(buyer, slug, { async: true })
    await unpaid('creator', by, 10_000_000n, other)
    expect((await other.run(buyer, slug)).status).toBe(200)
    await unpaid('', buyer, 1n, other)
    const before = vendor.requests.length
    expect(await other.run(buyer, slug)).toMatchObject({ status: 429, body: { code: 'unpaid_model_costs' } })
    await other.service.start()
    const seen = async () =>
      (await buyer.call('GET', `/v1/runs/${String(body.runId)}`)).body.run as { status: string; error: string }
    const ended = await other.until(seen, ({ status }) => status === 'failed')
    expect(ended.error).toContain("this creator's prompts")
    expect(vendor.requests.length).toBe(before)
    await other.close()
  })

  test('a cancel after the vendor was called changes nothing', async () => {
    // Of its own: here the clock was a day ahead of the lease that says that this process lives.
    const other = await runWorld(settings)
    const buyer = await other.service.person({ environment: 'production' })
    await fund(buyer, 1_000_000n, other)
    const answer = vendor.answer
    let finish: () => void = () => undefined
    vendor.answer = (response) => {
      finish = () => stream(response, [piece('whole', 'stop')])
    }
    const requestsBefore = vendor.requests.length
    const by = await other.service.person({ environment: 'production' })
    const slug = await publish('long', { model: 'per-run', amount: 0.1 }, by)
    const { body } = await other.run(buyer, slug, { async: true })
    await other.service.start()
    const id = body.runId as string
    const seen = async () => (await buyer.call('GET', `/v1/runs/${id}`)).body.run as { status: string; error: unknown }
    await other.until(seen, ({ status }) => status === 'running' && vendor.requests.length > requestsBefore)
    const canceled = await buyer.call('POST', `/v1/runs/${id}/cancel`)
    expect(canceled.body).toMatchObject({ canceled: false, run: { status: 'running' } })
    finish()
    // However it ends, so that another end is shown instead of waited for.
    const ended = await other.until(seen, ({ status }) => status !== 'running')
    vendor.answer = answer
    expect(ended).toMatchObject({ status: 'succeeded', error: null })
    expect((await other.wallet(buyer)).pendingLocks).toEqual({})
    await other.close()
  })

  test('the ledger is sound', async () => {
    expect(await world.service.ledger.differences()).toEqual([])
  })
})

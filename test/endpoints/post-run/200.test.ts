import { echoed } from '../../../service/models/models.ts'
import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'

describe('POST /run → 200', () => {
  let world: RunWorld

  beforeAll(async () => {
    world = await runWorld({ PLATFORM_FEE_BPS: '1000' })
  })
  afterAll(async () => {
    await world.close()
  })

  test('a prompt answers with its output, its cost, its model and true token counts', async () => {
    const caller = await world.caller(1)
    const answer = await world.run(caller, await world.prompt(), { inputs: { say: 'Hello, world: 1, 2, 3' } })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      runId: expect.stringMatching(/^run_/),
      output: echoed('Hello, world: 1, 2, 3'),
      cost: 0.02,
      duration: expect.any(Number),
      modelId: 'sandbox/echo',
      usage: { prompt_tokens: 12, completion_tokens: 12, total_tokens: 24 },
    })
  })

  test('inserts values unchanged, also one that looks like a variable', async () => {
    const caller = await world.caller(1)
    const slug = await world.prompt({
      promptConfig: { promptTemplate: 'A {{say}} Z{{ more }}!', allowedModels: ['sandbox/echo'] },
      inputSchema: [
        { name: 'say', label: 'Say', type: 'text', required: true },
        { name: 'more', label: 'More', type: 'text', required: false },
      ],
    })
    const { body } = await world.run(caller, slug, { inputs: { say: '{{more}} $& <|endoftext|>' } })
    expect(body.output).toBe(echoed('A {{more}} $& <|endoftext|> Z!'))
  })

  test('the caller pays, the creator earns the price less the fee, nothing stays locked', async () => {
    const caller = await world.caller(1)
    const before = await world.wallet(world.creator)
    await world.run(caller, await world.prompt())
    expect(await world.wallet(caller)).toMatchObject({
      balance: 0.98,
      availableBalance: 0.98,
      pendingLocks: {},
      totalLocked: 0,
      totalSpent: 0.02,
    })
    expect((await world.wallet(world.creator)).balance).toBeCloseTo(before.balance + 0.018, 6)
  })

  test('while it runs the money is locked under its id, and the balance unchanged', async () => {
    const caller = await world.caller(1)
    let answerNow: () => void = () => undefined
    const slug = await world.agent({
      webhookUrl: world.server.on('/held', async () => {
        await new Promise<void>((resolve) => (answerNow = resolve))
        return { body: { status: 'completed', output: 'done' } }
      }),
    })
    const running = world.run(caller, slug, { inputs: { topic: 'x' } })
    const request = await world.server.waitForRequest('/held')
    const runId = (JSON.parse(request.body) as { run_id: string }).run_id
    expect(await world.wallet(caller)).toMatchObject({
      balance: 1,
      availableBalance: 0.75,
      pendingLocks: { [runId]: 0.25 },
      totalLocked: 0.25,
    })
    answerNow()
    expect((await running).body).toMatchObject({
      success: true,
      runId,
      output: 'done',
      cost: 0.25,
      modelId: null,
      usage: null,
    })
    expect(await world.wallet(caller)).toMatchObject({ balance: 0.75, pendingLocks: {} })
  })

  test('a per-token prompt costs its actual usage, and holds more', async () => {
    const caller = await world.caller(1)
    const slug = await world.prompt({ pricing: { model: 'per-token', amount: 0.001 } })
    const { body } = await world.run(caller, slug, { inputs: { say: 'one two three four five' } })
    expect(body.usage.total_tokens).toBe(10)
    expect(body.cost).toBe(0.00001)
    const { run } = (await caller.call('GET', `/v1/runs/${body.runId as string}`)).body
    expect(run.maxCost).toBeGreaterThan(body.cost as number)
    expect((await world.wallet(caller)).balance).toBe(0.99999)
  })

  test('a free prompt on a free model runs for a caller without money', async () => {
    const caller = await world.caller(0)
    const { status, body } = await world.run(caller, await world.prompt({ pricing: { model: 'free' } }))
    expect([status, body.cost, body.output]).toEqual([200, 0, echoed('hello')])
  })

  test('an owner runs a draft of their own and is charged like anyone', async () => {
    const owner = await world.caller(1)
    const created = await owner.call('POST', '/v1/rda', {
      body: {
        slug: 'own-draft',
        type: 'prompt',
        name: 'Mine',
        description: 'Mine',
        inputSchema: [{ name: 'say', label: 'Say', type: 'text', required: true }],
        promptConfig: { promptTemplate: '{{say}}', allowedModels: ['sandbox/echo'] },
        pricing: { model: 'per-run', amount: 0.1 },
      },
    })
    expect(created.status).toBe(201)
    expect((await world.run(owner, 'own-draft')).body.cost).toBe(0.1)
    // The fee stays with the platform; the rest has come back as the creator's share.
    expect(await world.wallet(owner)).toMatchObject({ balance: 0.99, totalSpent: 0.1 })
  })

  test('the id does as well as the slug', async () => {
    const caller = await world.caller(1)
    const slug = await world.prompt()
    const { rda } = (await caller.call('GET', `/v1/rda/${slug}`)).body
    expect((await world.run(caller, rda.id as string)).status).toBe(200)
  })

  test('maxCost lets pass what costs no more', async () => {
    const caller = await world.caller(1)
    expect((await world.run(caller, await world.prompt(), { maxCost: 0.02 })).status).toBe(200)
  })

  describe('with an Idempotency-Key', () => {
    test('a repeated request gets the first answer and costs nothing more', async () => {
      const caller = await world.caller(1)
      const slug = await world.prompt()
      const first = await world.run(caller, slug, {}, { 'idempotency-key': 'one' })
      const again = await world.run(caller, slug, {}, { 'idempotency-key': 'one' })
      expect(again.body).toEqual(first.body)
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect((await world.wallet(caller)).totalSpent).toBe(0.02)
    })

    test('repeats an answer lost with its process, without a second run', async () => {
      const caller = await world.caller(1)
      const slug = await world.tool({
        apiEndpoint: world.server.on('/once', () => ({ body: { n: world.server.to('/once').length } })),
      })
      const first = await world.run(caller, slug, { inputs: { city: 'Bern' } }, { 'idempotency-key': 'lost' })
      expect(first.status).toBe(200)
      await world.service.database.statements.run(
        `UPDATE idempotent_request SET status = NULL, answer = NULL, leased_until = now() - interval '1 second'
         WHERE answer ->> 'runId' = $1`,
        [first.body.runId],
      )
      const again = await world.run(caller, slug, { inputs: { city: 'Bern' } }, { 'idempotency-key': 'lost' })
      expect(again.body).toEqual(first.body)
      expect(world.server.to('/once')).toHaveLength(1)
      expect((await world.wallet(caller)).totalSpent).toBe(0.01)
    })

    test('does not start a failed run again', async () => {
      const caller = await world.caller(1)
      const slug = await world.tool({ apiEndpoint: world.server.on('/broken', () => ({ status: 500 })) })
      const first = await world.run(caller, slug, { inputs: { city: 'Bern' } }, { 'idempotency-key': 'failed' })
      const again = await world.run(caller, slug, { inputs: { city: 'Bern' } }, { 'idempotency-key': 'failed' })
      expect([first.status, again.status, again.body.runId]).toEqual([500, 500, first.body.runId])
      expect(world.server.to('/broken')).toHaveLength(1)
    })
  })
})

import { Webhook } from 'standardwebhooks'
import { runWorld, type RunWorld } from './world.ts'
import type { TestPerson } from '../../harness/service.ts'

describe('an agent', () => {
  let world: RunWorld
  let caller: TestPerson
  let count = 0

  beforeAll(async () => {
    world = await runWorld({ ALLOW_PRIVATE_CALLBACKS: 'false' })
    caller = await world.caller(100)
  })
  afterAll(async () => {
    await world.close()
  })

  const path = () => `/agent-${String(++count)}`
  const run = (slug: string) => world.run(caller, slug, { inputs: { topic: 'bees' } })

  test('receives the run, signed with its owner’s secret, with its owner’s headers', async () => {
    const at = path()
    const slug = await world.agent({
      webhookUrl: world.server.on(at, () => ({ body: { status: 'completed', output: 'report' } })),
      webhookHeaders: { Authorization: 'Bearer creators-own' },
    })
    const { body } = await run(slug)
    const request = world.server.to(at)[0]!
    const { secret } = (await world.creator.call('GET', '/v1/signing-secret')).body.signingSecret as { secret: string }
    expect(new Webhook(secret).verify(request.body, request.headers as Record<string, string>)).toEqual({
      run_id: body.runId,
      rda_id: expect.stringMatching(/^rda_/),
      rda_slug: slug,
      inputs: { topic: 'bees' },
      user_id: caller.caller.subject,
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(request.headers).toMatchObject({
      'webhook-id': body.runId,
      authorization: 'Bearer creators-own',
      'content-type': 'application/json',
    })
  })

  test('may answer with JSON, which the caller gets as text', async () => {
    const slug = await world.agent({
      webhookUrl: world.server.on(path(), () => ({ body: { status: 'completed', output: { found: [1, 2] } } })),
    })
    expect((await run(slug)).body.output).toBe('{"found":[1,2]}')
  })

  test('is polled by its job until done, through errors', async () => {
    const at = path()
    let polls = 0
    const slug = await world.agent({
      webhookUrl: world.server.on(at, () => ({ body: { status: 'pending', job_id: 'job/7' } })),
      pollUrl: world.server.on(`${at}/status`, () => {
        polls++
        if (polls === 2) return { status: 503 }
        return { body: polls < 4 ? { status: 'pending' } : { status: 'completed', output: 'at last' } }
      }),
      pollIntervalMs: 100,
    })
    const { body } = await run(slug)
    expect(body).toMatchObject({ output: 'at last', cost: 0.25 })
    const requests = world.server.to(`${at}/status`)
    expect(requests).toHaveLength(4)
    expect(requests[0]).toMatchObject({ method: 'GET', body: '' })
    expect([requests[0]!.query.get('job_id'), requests[0]!.query.get('run_id')]).toEqual(['job/7', body.runId])
  })

  test('that fails while it is polled costs nothing', async () => {
    const at = path()
    const slug = await world.agent({
      webhookUrl: world.server.on(at, () => ({ body: { status: 'pending', job_id: 1 } })),
      pollUrl: world.server.on(`${at}/status`, () => ({ body: { status: 'failed' } })),
      pollIntervalMs: 100,
    })
    const answer = await run(slug)
    expect([answer.status, answer.body.code]).toEqual([500, 'agent_failed'])
  })

  test.each([502, 503, 504, 'hang up'] as const)('is called again after %s, under the same run id', async (trouble) => {
    const at = path()
    const slug = await world.agent({
      webhookUrl: world.server.on(at, () => {
        if (world.server.to(at).length < 3) return trouble === 'hang up' ? trouble : { status: trouble }
        return { body: { status: 'completed', output: 'third time lucky' } }
      }),
      maxRetries: 2,
    })
    const { body } = await run(slug)
    expect(body.output).toBe('third time lucky')
    const ids = world.server.to(at).map((request) => (JSON.parse(request.body) as { run_id: string }).run_id)
    expect(ids).toEqual([body.runId, body.runId, body.runId])
  })

  test.each([
    [500, 3, 1],
    [429, 3, 1],
    [400, 3, 1],
    [503, 2, 3],
    [503, 0, 1],
  ])('answering %d is called no oftener than is safe (maxRetries %d)', async (status, maxRetries, calls) => {
    const at = path()
    const slug = await world.agent({ webhookUrl: world.server.on(at, () => ({ status })), maxRetries })
    expect((await run(slug)).status).toBe(500)
    expect(world.server.to(at)).toHaveLength(calls)
  })

  test('with a price per second costs each second begun, and at most its time limit', async () => {
    const slug = await world.agent(
      {
        webhookUrl: world.server.on(path(), () => ({ body: { status: 'completed', output: 'quick' } })),
        timeoutSeconds: 60,
      },
      { pricing: { model: 'per-second', amount: 0.01 } },
    )
    const { body } = await run(slug)
    expect(body.cost).toBe(0.01 * Math.max(1, Math.ceil((body.duration as number) / 1000)))
    const { run: stored } = (await caller.call('GET', `/v1/runs/${body.runId as string}`)).body
    expect(stored.maxCost).toBe(0.6)
  })

  test('on a private network is not called, although it was made when that was allowed', async () => {
    const slug = await world.agent({ webhookUrl: world.server.on(path(), () => ({ body: {} })) })
    await world.service.database.statements.run(
      `UPDATE rda_version SET content = jsonb_set(content, '{config,webhookUrl}', '"http://127.0.0.2:80/"')
       WHERE rda_id = (SELECT id FROM rda WHERE slug = $1)`,
      [slug],
    )
    const answer = await run(slug)
    expect([answer.status, answer.body.code]).toEqual([500, 'agent_address_refused'])
    expect(answer.body.error).toBe("The agent's address may not be called.")
  })
})

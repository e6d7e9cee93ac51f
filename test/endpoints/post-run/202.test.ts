import { echoed } from '../../../service/models/models.ts'
import { expectLikeItsTest } from '../../deliveries/samples.ts'
import { Webhook } from 'standardwebhooks'
import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'
import type { TestPerson } from '../../harness/service.ts'

describe('POST /run with async → 202', () => {
  let world: RunWorld

  beforeAll(async () => {
    world = await runWorld()
    await world.service.start()
  })
  afterAll(async () => {
    await world.close()
  })

  const ended = (caller: TestPerson, id: string) =>
    world.until(
      async () => (await caller.call('GET', `/v1/runs/${id}`)).body.run as Record<string, unknown>,
      ({ status }) => status !== 'queued' && status !== 'running',
    )

  test('answers at once with the address of the status, and a worker runs it', async () => {
    const caller = await world.caller(1)
    const answer = await world.run(caller, await world.prompt(), { async: true })
    expect(answer.status).toBe(202)
    const { runId } = answer.body
    expect(answer.body).toEqual({
      success: true,
      runId: expect.stringMatching(/^run_/),
      status: 'queued',
      statusUrl: `http://localhost:0/v1/runs/${runId as string}`,
    })
    expect(await ended(caller, runId as string)).toMatchObject({
      status: 'succeeded',
      output: echoed('hello'),
      cost: 0.02,
      timeline: [
        { status: 'queued', at: expect.any(String) },
        { status: 'running', at: expect.any(String) },
        { status: 'succeeded', at: expect.any(String) },
      ],
    })
    expect((await world.wallet(caller)).totalSpent).toBe(0.02)
  })

  test('is not affected by a later edit of the asset', async () => {
    const caller = await world.caller(1)
    const slug = await world.tool({
      apiEndpoint: world.server.on('/before', () => ({ body: { temperature: 'before' } })),
    })
    const { body } = await world.run(caller, slug, { async: true, inputs: { city: 'Bern' } })
    const { rda } = (await world.creator.call('GET', `/v1/rda/${slug}`)).body
    await world.creator.call('PATCH', `/v1/rda/${rda.id as string}`, {
      body: { pricing: { model: 'per-run', amount: 5 } },
    })
    expect(await ended(caller, body.runId as string)).toMatchObject({
      status: 'succeeded',
      cost: 0.01,
      rdaVersion: '1.0.0',
    })
  })

  test.each([
    ['run.completed', 200, 'succeeded', '"sunny"'],
    ['run.failed', 500, 'failed', null],
  ])('sends %s to its webhook once, signed with the account’s secret', async (event, status, state, output) => {
    const caller = await world.caller(1)
    const path = `/told-${state}`
    const webhookUrl = world.server.on(path, () => ({ status: 200 }))
    const slug = await world.tool({
      apiEndpoint: world.server.on(`/tool-${state}`, () => ({ status, body: '"sunny"' })),
    })
    const { secret } = (await caller.call('GET', '/v1/signing-secret')).body.signingSecret as { secret: string }
    const { body } = await world.run(caller, slug, { async: true, webhookUrl, inputs: { city: 'Bern' } })
    const delivery = await world.server.waitForRequest(path)
    expect(new Webhook(secret).verify(delivery.body, delivery.headers as Record<string, string>)).toMatchObject({
      event,
      data: {
        runId: body.runId,
        rdaSlug: slug,
        status: state,
        output: output === null ? null : JSON.parse(output),
        cost: output === null ? 0 : 0.01,
      },
    })
    expect(delivery.headers['webhook-id']).toBe((body.runId as string).replace('run_', 'dlv_'))
    expectLikeItsTest(JSON.parse(delivery.body) as Parameters<typeof expectLikeItsTest>[0])
  })

  test('sends its event to the endpoints of the caller’s account that subscribed to it', async () => {
    const caller = await world.caller(1)
    const url = world.server.on('/endpoint', () => ({ status: 200 }))
    const created = await caller.call('POST', '/v1/webhook-endpoints', { body: { url, events: ['run.completed'] } })
    expect(created.status).toBe(201)
    const { body } = await world.run(caller, await world.prompt())
    const delivery = await world.server.waitForRequest('/endpoint')
    expect(JSON.parse(delivery.body)).toMatchObject({
      event: 'run.completed',
      data: { runId: body.runId, output: echoed('hello') },
    })
    // Other users' runs are not reported to this endpoint.
    await world.run(await world.caller(1), await world.prompt())
    expect(world.server.to('/endpoint')).toHaveLength(1)
  })

  test('with an Idempotency-Key it is queued once', async () => {
    const caller = await world.caller(1)
    const slug = await world.prompt()
    const run = () => world.run(caller, slug, { async: true }, { 'idempotency-key': 'queued' })
    const [first, again] = [await run(), await run()]
    expect(again.body.runId).toBe(first.body.runId)
    await ended(caller, first.body.runId as string)
    expect((await world.wallet(caller)).totalSpent).toBe(0.02)
  })
})

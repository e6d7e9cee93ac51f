import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'

describe('POST /runs/{id}/cancel', () => {
  let world: RunWorld

  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(async () => {
    await world.close()
  })

  test('200: a queued run releases its money and is never executed', async () => {
    const caller = await world.caller(1)
    const { body } = await world.run(caller, await world.prompt(), { async: true })
    expect((await world.wallet(caller)).totalLocked).toBe(0.02)
    const answer = await caller.call('POST', `/v1/runs/${body.runId as string}/cancel`)
    expect(answer.status).toBe(200)
    expect(answer.body.run).toMatchObject({ id: body.runId, status: 'canceled', cost: 0, code: 'run_canceled' })
    expect(answer.body).toMatchObject({ canceled: true, message: expect.stringMatching(/Nothing was charged/) })
    expect(await world.wallet(caller)).toMatchObject({ balance: 1, availableBalance: 1, pendingLocks: {} })
    expect((await caller.call('POST', `/v1/runs/${body.runId as string}/cancel`)).status).toBe(200)
  })

  test('200: a run whose request has left continues, and is charged when it succeeds', async () => {
    const caller = await world.caller(1)
    let answerNow: () => void = () => undefined
    const slug = await world.agent({
      webhookUrl: world.server.on('/slow', async () => {
        await new Promise<void>((resolve) => (answerNow = resolve))
        return { body: { status: 'completed', output: 'done after all' } }
      }),
    })
    const waiting = world.run(caller, slug, { inputs: { topic: 'x' } })
    const { run_id: id } = JSON.parse((await world.server.waitForRequest('/slow')).body) as { run_id: string }
    const canceled = await caller.call('POST', `/v1/runs/${id}/cancel`)
    expect(canceled.status).toBe(200)
    expect(canceled.body).toMatchObject({ canceled: false, run: { status: 'running' } })
    expect(canceled.body.message).toMatch(/can no longer be canceled/)
    answerNow()
    expect((await waiting).body).toMatchObject({ success: true, output: 'done after all' })
    expect((await caller.call('GET', `/v1/runs/${id}`)).body.run).toMatchObject({ status: 'succeeded' })
    expect((await world.wallet(world.creator)).balance).toBeGreaterThan(0)
  })

  test('409 for a run that has ended', async () => {
    const caller = await world.caller(1)
    const { body } = await world.run(caller, await world.prompt())
    const answer = await caller.call('POST', `/v1/runs/${body.runId as string}/cancel`)
    expect([answer.status, answer.body.code, answer.body.status]).toEqual([409, 'run_ended', 'succeeded'])
  })

  test('404 for another user’s run and an unknown one', async () => {
    const caller = await world.caller(1)
    const { body } = await world.run(caller, await world.prompt(), { async: true })
    const other = await world.caller(0)
    expect((await other.call('POST', `/v1/runs/${body.runId as string}/cancel`)).status).toBe(404)
    expect((await caller.call('GET', `/v1/runs/${body.runId as string}`)).body.run.status).toBe('queued')
  })
})

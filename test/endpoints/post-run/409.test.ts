import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'

describe('POST /run → 409', () => {
  let world: RunWorld

  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(async () => {
    await world.close()
  })

  test('whoever waits for a run that is canceled is told so, and not charged', async () => {
    const caller = await world.caller(1)
    const slug = await world.agent({ webhookUrl: world.server.on('/never', () => new Promise<never>(() => undefined)) })
    const waiting = world.run(caller, slug, { inputs: { topic: 'x' } })
    const { run_id: runId } = JSON.parse((await world.server.wasAsked('/never')).body) as { run_id: string }
    expect((await caller.call('POST', `/v1/runs/${runId}/cancel`)).status).toBe(200)
    const answer = await waiting
    expect(answer.status).toBe(409)
    expect(answer.body).toMatchObject({ code: 'run_canceled', runId })
    expect(await world.wallet(caller)).toMatchObject({ balance: 1, pendingLocks: {}, totalSpent: 0 })
  })

  test('the same Idempotency-Key with another body', async () => {
    const caller = await world.caller(1)
    const slug = await world.prompt()
    await world.run(caller, slug, {}, { 'idempotency-key': 'k' })
    const answer = await world.run(caller, slug, { inputs: { say: 'other' } }, { 'idempotency-key': 'k' })
    expect(answer.status).toBe(409)
    expect(answer.body).toMatchObject({ code: 'idempotency_conflict', runId: expect.stringMatching(/^run_/) })
  })
})

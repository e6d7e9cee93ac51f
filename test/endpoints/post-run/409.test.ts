import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'

describe('POST /run → 409', () => {
  let world: RunWorld

  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(async () => {
    await world.close()
  })

  test('for one Idempotency-Key with another body', async () => {
    const caller = await world.caller(1)
    const slug = await world.prompt()
    await world.run(caller, slug, {}, { 'idempotency-key': 'k' })
    const answer = await world.run(caller, slug, { inputs: { say: 'other' } }, { 'idempotency-key': 'k' })
    expect(answer.status).toBe(409)
    expect(answer.body).toMatchObject({ code: 'idempotency_conflict', runId: expect.stringMatching(/^run_/) })
  })
})

import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'

describe('GET /rda/{id}/runs → 404', () => {
  let world: RunWorld
  let prompt: string
  beforeAll(async () => {
    world = await runWorld()
    prompt = await world.prompt()
  })
  afterAll(() => world.close())

  test("another creator's asset looks like an unknown one, also to a customer who ran it", async () => {
    const customer = await world.caller(1)
    await world.run(customer, prompt)
    const others = await customer.call('GET', `/v1/rda/${prompt}/runs`)
    const nothing = await customer.call('GET', '/v1/rda/never-made/runs')
    expect([others.status, others.body.code]).toEqual([404, nothing.body.code])
    expect(others.body.error).toBe(nothing.body.error)
  })
})

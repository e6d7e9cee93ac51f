import { openWorld, request, type World } from '../../facilitator/world.ts'

describe('POST {facilitator_url}/settle', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  it('refuses an Idempotency-Key that was used for another payment', async () => {
    const { chain, payer, seller, service } = world
    const one = request(chain, 2, await payer.authorize(chain.network, seller))
    const other = request(chain, 2, await payer.authorize(chain.network, seller))
    expect((await service.post('/settle', one, { 'idempotency-key': 'k' })).body.success).toBe(true)
    const { status, body } = await service.post('/settle', other, { 'idempotency-key': 'k' })
    expect(status).toBe(409)
    expect(body).toMatchObject({ code: 'idempotency_conflict', success: false, settled: false })
    expect((await service.post('/settle', other)).body.success).toBe(true)
  })
})

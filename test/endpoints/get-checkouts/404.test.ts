import { openWorld, type World } from '../../checkouts/world.ts'

describe("404 is the same for another account's checkout as for an unknown one", () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false })
  })
  afterAll(() => world.close())

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/heartbeat'],
    ['POST', '/rotate-secret'],
    ['GET', '/payments'],
    ['POST', '/test-payment'],
  ])('%s /v1/checkouts/{id}%s', async (method, rest) => {
    const { id } = await world.sell({ testMode: true, lifetime: 'temporary' })
    const stranger = await world.service.person()
    const answers = [
      await stranger.call(method, `/v1/checkouts/${id}${rest}`),
      await stranger.call(method, `/v1/checkouts/chk_${'0'.repeat(26)}${rest}`),
      await stranger.call(method, `/v1/checkouts/nothing${rest}`),
    ]
    for (const { status, body } of answers) {
      expect(status).toBe(404)
      expect(body).toEqual({ error: answers[0]!.body.error, code: 'checkout_not_found', requestId: expect.any(String) })
    }
    expect((await world.seller.call('GET', `/v1/checkouts/${id}`)).body.checkout.status).toBe('active')
  })
})

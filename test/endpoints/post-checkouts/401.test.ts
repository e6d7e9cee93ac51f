import { openWorld, type World } from '../../checkouts/world.ts'

describe('401: whoever sells says who they are', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false })
  })
  afterAll(() => world.close())

  it.each([
    ['POST', '/v1/checkouts'],
    ['GET', '/v1/checkouts'],
    ['GET', '/v1/checkouts/chk_x'],
    ['DELETE', '/v1/checkouts/chk_x'],
    ['POST', '/v1/checkouts/chk_x/heartbeat'],
    ['POST', '/v1/checkouts/chk_x/rotate-secret'],
    ['GET', '/v1/checkouts/chk_x/payments'],
    ['POST', '/v1/checkouts/chk_x/test-payment'],
  ])('%s %s', async (method, path) => {
    expect(await world.call(method, path)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    const wrong = await world.call(method, path, { key: `csk_test_${'x'.repeat(43)}` })
    expect(wrong).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
  })
})

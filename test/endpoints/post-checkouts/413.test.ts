import { openWorld, type World } from '../../checkouts/world.ts'

describe('413: a megabyte where a form belongs', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false })
  })
  afterAll(() => world.close())

  it.each(['/v1/checkouts', '/v1/checkouts/chk_x/test-payment', '/p/chk_x', '/p/chk_x/pay'])(
    'POST %s',
    async (path) => {
      const answer = await world.seller.call('POST', path, { body: { input: { text: 'x'.repeat(1_000_000) } } })
      expect(answer).toMatchObject({
        status: 413,
        body: { code: 'body_too_large', details: { body: expect.any(String) } },
      })
    },
  )
})

import { openWorld, type World } from '../../checkouts/world.ts'

describe('GET /v1/checkouts: 200', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false })
  })
  afterAll(() => world.close())

  it("lists the caller's own, newest first, in pages, without secrets", async () => {
    expect((await world.seller.call('GET', '/v1/checkouts')).body).toEqual({
      checkouts: [],
      total: 0,
      limit: 20,
      offset: 0,
    })
    const ids: string[] = []
    for (const price of [1, 2, 3]) ids.unshift((await world.sell({ price })).id)
    const stranger = await world.service.person()
    await world.sell({}, stranger)
    const all = await world.seller.call('GET', '/v1/checkouts')
    expect(all.body.total).toBe(3)
    const listed = all.body.checkouts as { id: string }[]
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(ids))
    expect(all.text).not.toContain('whsec_')
    const second = await world.seller.call('GET', '/v1/checkouts?limit=1&offset=1')
    expect(second.body).toMatchObject({ total: 3, limit: 1, offset: 1, checkouts: [listed[1]] })
    expect((await world.seller.call('GET', '/v1/checkouts?offset=9')).body).toMatchObject({ checkouts: [], total: 3 })
    expect((await world.seller.call('GET', '/v1/checkouts?limit=101')).status).toBe(400)
  })

  it('shows one of them, also when it has expired', async () => {
    const { id, checkout } = await world.sell()
    expect(await world.seller.call('GET', `/v1/checkouts/${id}`)).toMatchObject({ status: 200, body: { checkout } })
    const expired = await world.seller.call('DELETE', `/v1/checkouts/${id}`)
    expect(expired.body.checkout).toMatchObject({ id, status: 'expired', expiredAt: expect.any(String) })
    // Expiring it again changes nothing.
    expect((await world.seller.call('DELETE', `/v1/checkouts/${id}`)).body).toEqual(expired.body)
    expect((await world.seller.call('GET', `/v1/checkouts/${id}`)).body).toEqual(expired.body)
  })

  it('shows the current secret on request, and changes nothing: an expired or paused checkout stays so', async () => {
    const place = { instanceId: 'n8n', workflowId: 'flow', nodeId: 'trigger' }
    const { id, secret } = await world.sell({ source: place, testMode: true })
    const withSecret = () => world.seller.call('GET', `/v1/checkouts/${id}?secret=true`)
    expect((await withSecret()).body.secret).toBe(secret)
    const rotated = (await world.seller.call('POST', `/v1/checkouts/${id}/rotate-secret`)).body
    await world.seller.call('DELETE', `/v1/checkouts/${id}`)
    const expired = (await world.seller.call('GET', `/v1/checkouts/${id}`)).body
    expect(expired.secret).toBeUndefined()
    expect(await withSecret()).toMatchObject({ status: 200, body: { ...expired, secret: rotated.secret } })
    expect((await world.seller.call('GET', `/v1/checkouts/${id}`)).body).toEqual(expired)
    expect((await world.seller.call('GET', `/v1/checkouts/${id}?secret=yes`)).status).toBe(400)
  })

  it('has no secret to show where no workflow is called', async () => {
    const { id } = await world.sell({ callbackUrl: null, after: { kind: 'text', text: 'Thanks' } })
    expect((await world.seller.call('GET', `/v1/checkouts/${id}?secret=true`)).body.secret).toBeNull()
  })

  it('shows no secret to others', async () => {
    const { id } = await world.sell()
    const stranger = await world.service.person()
    expect((await stranger.call('GET', `/v1/checkouts/${id}?secret=true`)).status).toBe(404)
    expect((await world.service.call('GET', `/v1/checkouts/${id}?secret=true`)).status).toBe(401)
  })
})

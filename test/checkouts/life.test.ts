import { newId } from '../../service/kit/ids.ts'
import { LIVE, openWorld, type World } from './world.ts'

describe('the life of a checkout', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false, environment: LIVE })
  })
  afterAll(() => world.close())

  const source = () => ({ instanceId: 'n8n', workflowId: newId('op', new Date()), nodeId: 'trigger' })
  const page = async (id: string) => (await world.call('GET', `/p/${id}`)).status
  const own = async (id: string) => (await world.seller.call('GET', `/v1/checkouts/${id}`)).body.checkout as unknown
  const expire = (id: string) => world.seller.call('DELETE', `/v1/checkouts/${id}`)

  describe('temporary, while a workflow is tested', () => {
    it('expires 180 seconds after the last heartbeat of its listener', async () => {
      const { id } = await world.sell({ lifetime: 'temporary', source: source() })
      world.service.clock.forward(170_000)
      const beat = await world.seller.call('POST', `/v1/checkouts/${id}/heartbeat`)
      expect(beat.status).toBe(200)
      const left = Date.parse(beat.body.checkout.expiresAt as string) - world.service.clock.now().getTime()
      expect(left).toBeGreaterThan(175_000)
      expect(left).toBeLessThanOrEqual(180_000)
      world.service.clock.forward(170_000)
      expect(await page(id)).toBe(200)
      world.service.clock.forward(11_000)
      // A checkout expires by its time alone, before any process has written the new state.
      expect(await page(id)).toBe(404)
      expect(await own(id)).toMatchObject({ status: 'expired', expiredAt: expect.any(String) })
      expect((await world.seller.call('POST', `/v1/checkouts/${id}/heartbeat`)).status).toBe(404)
      await world.service.checkouts.sweepers.leases(world.service.clock.now())
      const [row] = await world.service.database.statements.run<{ state: string }>(
        'SELECT state FROM checkout WHERE id = $1',
        [id],
      )
      expect(row).toEqual({ state: 'expired' })
      expect(await page(id)).toBe(404)
    })

    it('is restored with the same link and secret when the same node listens again', async () => {
      const place = source()
      const first = await world.sell({ lifetime: 'temporary', source: place })
      await expire(first.id)
      expect(await page(first.id)).toBe(404)
      const second = await world.sell({ lifetime: 'temporary', source: place, price: 2 })
      expect(second).toMatchObject({ id: first.id, secret: first.secret })
      expect(second.checkout).toMatchObject({ price: 2, status: 'active', expiredAt: null })
    })

    it('becomes persistent when the workflow is activated, with the same link and secret', async () => {
      const place = source()
      const tested = await world.sell({ lifetime: 'temporary', testMode: true, source: place })
      const active = await world.sell({ lifetime: 'persistent', source: place, price: 3 })
      expect(active).toMatchObject({ id: tested.id, secret: tested.secret })
      expect(active.checkout).toMatchObject({ lifetime: 'persistent', expiresAt: null, testMode: false, price: 3 })
      world.service.clock.forward(3_600_000)
      expect(await page(active.id)).toBe(200)
      // Testing again creates another checkout; the customers' link stays the same.
      const again = await world.sell({ lifetime: 'temporary', testMode: true, source: place })
      expect(again.id).not.toBe(active.id)
      expect(await own(active.id)).toMatchObject({ lifetime: 'persistent', price: 3, testMode: false })
    })

    it('stays temporary where a persistent one exists, or when it has expired', async () => {
      const place = source()
      const active = await world.sell({ lifetime: 'persistent', source: place })
      await expire(active.id)
      const tested = await world.sell({ lifetime: 'temporary', testMode: true, source: place })
      expect((await world.sell({ lifetime: 'persistent', source: place })).id).toBe(active.id)
      expect(await own(tested.id)).toMatchObject({ lifetime: 'temporary', status: 'active' })

      const other = source()
      const over = await world.sell({ lifetime: 'temporary', testMode: true, source: other })
      world.service.clock.forward(180_001)
      expect((await world.sell({ lifetime: 'persistent', source: other })).id).not.toBe(over.id)
    })
  })

  describe('persistent, while a workflow is active', () => {
    it('keeps its link and secret through edits, deactivation and re-activation', async () => {
      const place = source()
      const first = await world.sell({ source: place, price: 1 })
      const edited = await world.sell({ source: place, price: 5, product: { name: 'Dearer' } })
      expect(edited).toMatchObject({ id: first.id, secret: first.secret })
      expect((await world.call('GET', `/p/${first.id}`)).body.checkout).toMatchObject({
        price: 5,
        product: { name: 'Dearer', description: null },
      })
      expect((await expire(first.id)).body.checkout).toMatchObject({ status: 'expired', lifetime: 'persistent' })
      const missing = await world.call('GET', `/p/${first.id}`)
      expect(missing).toMatchObject({ status: 404, body: { code: 'checkout_not_found' } })
      expect((await world.sell({ source: place })).id).toBe(first.id)
      expect(await page(first.id)).toBe(200)
    })

    it('sells on through a republish, and ends after its grace if it is not registered again', async () => {
      const place = source()
      const { id } = await world.sell({ source: place, price: 1 })
      const endSoon = () => world.seller.call('DELETE', `/v1/checkouts/${id}?graceSeconds=5`)
      expect(await endSoon()).toMatchObject({ status: 200, body: { checkout: { status: 'active' } } })
      expect(await page(id)).toBe(200)
      expect((await world.sell({ source: place, price: 2 })).id).toBe(id)
      world.service.clock.forward(5_001)
      await world.service.checkouts.sweepers.leases(world.service.clock.now())
      expect((await world.call('GET', `/p/${id}`)).body.checkout).toMatchObject({ price: 2, status: 'active' })

      await endSoon()
      expect((await world.seller.call('POST', `/v1/checkouts/${id}/heartbeat`)).status).toBe(200)
      world.service.clock.forward(5_001)
      expect(await page(id)).toBe(404)
      await world.service.checkouts.sweepers.leases(world.service.clock.now())
      expect(await own(id)).toMatchObject({ status: 'expired', lifetime: 'persistent' })
      expect((await world.seller.call('DELETE', `/v1/checkouts/${id}?graceSeconds=61`)).status).toBe(400)
    })

    it('stays when a test listener ends that it has taken over, and a temporary one expires', async () => {
      const place = source()
      const { id } = await world.sell({ source: place, lifetime: 'temporary' })
      const end = (query: string) => world.seller.call('DELETE', `/v1/checkouts/${id}?lifetime=temporary${query}`)
      await world.sell({ source: place, lifetime: 'persistent' })
      for (const query of ['', '&graceSeconds=5']) {
        expect(await end(query)).toMatchObject({
          status: 200,
          body: { checkout: { status: 'active', lifetime: 'persistent', expiresAt: null } },
        })
      }
      const other = await world.sell({ source: source(), lifetime: 'temporary' })
      const ended = await world.seller.call('DELETE', `/v1/checkouts/${other.id}?lifetime=temporary`)
      expect(ended.body.checkout.status).toBe('expired')
      expect((await world.seller.call('DELETE', '/v1/checkouts/chk_1?lifetime=temporary')).status).toBe(404)
    })

    it('is one, also for concurrent activations', async () => {
      const place = source()
      const created = await Promise.all(Array.from({ length: 20 }, () => world.sell({ source: place })))
      expect(new Set(created.map(({ id }) => id)).size).toBe(1)
      expect(new Set(created.map(({ secret }) => secret)).size).toBe(1)
    })

    it('is a different one for another environment, account or node', async () => {
      const place = source()
      const { id } = await world.sell({ source: place })
      const production = await world.service.person({ environment: 'production' })
      const stranger = await world.service.person()
      const others = await Promise.all([
        world.sell({ source: place }, production),
        world.sell({ source: place }, stranger),
        world.sell({ source: { ...place, nodeId: 'another' } }),
        world.sell({}),
        world.sell({}),
      ])
      expect(new Set([id, ...others.map((one) => one.id)]).size).toBe(6)
    })
  })

  it('a rotated secret stays when the node registers again', async () => {
    const place = source()
    const { id, secret } = await world.sell({ source: place })
    const rotated = await world.seller.call('POST', `/v1/checkouts/${id}/rotate-secret`)
    expect(rotated.body.secret).toMatch(/^whsec_/)
    expect(rotated.body.secret).not.toBe(secret)
    expect((await world.sell({ source: place })).secret).toBe(rotated.body.secret)
  })
})

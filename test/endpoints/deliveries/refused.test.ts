import { startWorld, type World } from '../../deliveries/world.ts'

/** A caller without access learns nothing: not whether the delivery exists, not whose it is. */
describe('/deliveries', () => {
  let world: World
  let id: string

  beforeAll(async () => {
    world = await startWorld()
    id = await world.write()
    await world.reaches(id, 'delivered')
  })
  afterAll(() => world.close())

  const ways = [
    ['GET', ''],
    ['POST', '/redeliver'],
    ['POST', '/claim'],
  ] as const

  test.each(ways)(
    "%s …%s answers the same 404 for another account's delivery as for an unknown one",
    async (method, way) => {
      const other = await world.service.person()
      const theirs = await other.call(method, `/v1/deliveries/${id}${way}`)
      const none = await other.call(method, `/v1/deliveries/dlv_00000000000000000000000000${way}`)
      expect([theirs.status, theirs.body.code]).toEqual([404, 'delivery_not_found'])
      expect({ ...none.body, requestId: '' }).toEqual({ ...theirs.body, requestId: '' })
      expect((await other.call('GET', '/v1/deliveries')).body.total).toBe(0)
    },
  )

  test.each(ways)("%s …%s with no key is 401, with an agent's 403", async (method, way) => {
    const path = `/v1/deliveries/${id}${way}`
    expect((await world.service.call(method, path)).status).toBe(401)
    const agent = await world.service.person()
    await world.service.database.pool.query('UPDATE identity_api_key SET agent_id = $1 WHERE user_id = $2', [
      'agt_1',
      agent.caller.user.id,
    ])
    const { status, body } = await agent.call(method, path)
    expect([status, body.code]).toEqual([403, 'agent_key_forbidden'])
  })

  test('and the delivery is unchanged', async () => {
    const delivery = await world.reaches(id, 'delivered')
    expect(delivery).toMatchObject({ attemptCount: 1, claimedAt: null })
  })
})

import { newId } from '../../../service/kit/ids.ts'
import { openWorld, type World } from '../../checkouts/world.ts'

describe("403: an agent's key sells nothing", () => {
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
    await world.service.database.statements.run('UPDATE identity_api_key SET agent_id = $1', [newId('agt', new Date())])
    const answer = await world.seller.call(method, path)
    expect(answer).toMatchObject({ status: 403, body: { code: 'agent_key_forbidden' } })
  })
})

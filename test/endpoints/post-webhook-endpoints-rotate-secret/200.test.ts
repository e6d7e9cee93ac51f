import { isGenuine } from '../../deliveries/receiver.ts'
import { startWorld, type World } from '../../deliveries/world.ts'

describe('POST /webhook-endpoints/{id}/rotate-secret', () => {
  let world: World

  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world.close())

  test('returns a new secret once; the old one stays valid beside it', async () => {
    const { person, receiver } = world
    const body = { url: receiver.url, events: ['run.completed'] }
    const created = await person.call('POST', '/v1/webhook-endpoints', { body })
    const path = `/v1/webhook-endpoints/${String(created.body.webhookEndpoint.id)}`
    const headers = { 'idempotency-key': 'rotate' }
    const rotated = await person.call('POST', `${path}/rotate-secret`, { headers })
    expect(rotated.status).toBe(200)
    expect(rotated.body.webhookEndpoint).toEqual(created.body.webhookEndpoint)
    expect(rotated.body.secret).not.toBe(created.body.secret)
    const again = await person.call('POST', `${path}/rotate-secret`, { headers })
    expect(again.body).toEqual({ ...rotated.body, secret: null })

    const tested = await person.call('POST', `${path}/test`)
    await world.reaches(tested.body.deliveryId as string, 'delivered')
    const [call] = receiver.of(tested.body.deliveryId as string)
    for (const secret of [created.body.secret, rotated.body.secret])
      expect(isGenuine(secret as string, call!)).toBe(true)
  })
})

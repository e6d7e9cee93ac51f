import { isGenuine } from '../../deliveries/receiver.ts'
import { startWorld, type World } from '../../deliveries/world.ts'

describe('POST /webhook-endpoints/{id}/test', () => {
  let world: World

  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world.close())

  test('sends a signed event that says it is a test; once for an Idempotency-Key', async () => {
    const { person, receiver } = world
    const made = await person.call('POST', '/v1/webhook-endpoints', {
      body: { url: receiver.url, events: ['revenue.milestone', 'run.failed'] },
    })
    const endpoint = made.body.webhookEndpoint.id as string
    const path = `/v1/webhook-endpoints/${endpoint}`
    const headers = { 'idempotency-key': 'test' }
    const { status, body } = await person.call('POST', `${path}/test`, { headers })
    expect([status, Object.keys(body as object)]).toEqual([202, ['deliveryId']])
    expect((await person.call('POST', `${path}/test`, { headers })).body).toEqual(body)
    const seen = await world.reaches(body.deliveryId as string, 'delivered')
    expect(seen).toMatchObject({ target: endpoint, attemptCount: 1 })
    const calls = receiver.of(body.deliveryId as string)
    expect(calls).toHaveLength(1)
    expect(isGenuine(made.body.secret as string, calls[0]!)).toBe(true)
    expect(calls[0]!.headers['coinslot-test']).toBe('true')
    expect(JSON.parse(calls[0]!.body)).toMatchObject({ event: 'revenue.milestone', data: { test: true } })

    await person.call('PATCH', path, { body: { status: 'disabled' } })
    const off = await person.call('POST', `${path}/test`)
    expect([off.status, off.body.code]).toEqual([409, 'webhook_endpoint_disabled'])
  })
})

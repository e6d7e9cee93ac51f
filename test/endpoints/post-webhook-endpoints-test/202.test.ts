import { EVENTS } from '../../../service/deliveries/model.ts'
import { expectLikeItsTest } from '../../deliveries/samples.ts'
import { isGenuine } from '../../deliveries/receiver.ts'
import { startWorld, type World } from '../../deliveries/world.ts'

describe('POST /webhook-endpoints/{id}/test', () => {
  let world: World

  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world.close())

  test('sends a signed test event of each subscribed type, once per Idempotency-Key', async () => {
    const { person, receiver } = world
    const created = await person.call('POST', '/v1/webhook-endpoints', { body: { url: receiver.url, events: EVENTS } })
    const endpoint = created.body.webhookEndpoint.id as string
    const path = `/v1/webhook-endpoints/${endpoint}`
    const headers = { 'idempotency-key': 'test' }
    const { status, body } = await person.call('POST', `${path}/test`, { headers })
    const deliveries = body.deliveries as { id: string; event: string }[]
    expect([status, body.deliveryId]).toEqual([202, deliveries[0]!.id])
    expect(deliveries.map(({ event }) => event)).toEqual(EVENTS)
    expect((await person.call('POST', `${path}/test`, { headers })).body).toEqual(body)
    for (const { id, event } of deliveries) {
      expect(await world.reaches(id, 'delivered')).toMatchObject({ target: endpoint, attemptCount: 1 })
      const [call, ...more] = receiver.of(id)
      expect(more).toEqual([])
      expect(isGenuine(created.body.secret as string, call!)).toBe(true)
      expect(call!.headers['coinslot-test']).toBe('true')
      const sent = JSON.parse(call!.body) as { event: string; data: Record<string, unknown> }
      expect(sent).toMatchObject({ event, data: { test: true } })
      expectLikeItsTest(sent)
    }

    const one = await person.call('POST', `${path}/test`, { body: { event: 'revenue.milestone' } })
    expect(one.body).toEqual({
      deliveryId: expect.any(String),
      deliveries: [{ id: expect.any(String), event: 'revenue.milestone' }],
    })
    await world.reaches(one.body.deliveryId as string, 'delivered')
    expect(JSON.parse(receiver.of(one.body.deliveryId as string)[0]!.body)).toMatchObject({
      data: {
        milestone: 10,
        customerId: expect.stringMatching(/^0x/),
        amount: 1,
        txHash: expect.stringMatching(/^0x/),
      },
    })
    const unknown = await person.call('POST', `${path}/test`, { body: { event: 'payment.lost' } })
    expect([unknown.status, Object.keys(unknown.body.details as object)]).toEqual([400, ['event']])

    await person.call('PATCH', path, { body: { status: 'disabled' } })
    const off = await person.call('POST', `${path}/test`)
    expect([off.status, off.body.code]).toEqual([409, 'webhook_endpoint_disabled'])
  })
})

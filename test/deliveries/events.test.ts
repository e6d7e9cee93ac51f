import { expectLikeItsTest } from './samples.ts'
import { newId } from '../../service/kit/ids.ts'
import type { EventName } from '../../service/deliveries/model.ts'
import { isGenuine, ok, startReceiver, status, type Receiver } from './receiver.ts'
import { startWorld, type World } from './world.ts'

/** An account's endpoints get the events that they subscribed to, written in the same commit as the change itself. */
describe('an event', () => {
  let world: World
  let receivers: Receiver[]

  beforeAll(async () => {
    world = await startWorld()
  })
  beforeEach(async () => {
    receivers = [await startReceiver(), await startReceiver()]
  })
  afterEach(async () => {
    const { body } = await world.person.call('GET', '/v1/webhook-endpoints')
    for (const { id } of body.webhookEndpoints as { id: string }[]) {
      await world.person.call('DELETE', `/v1/webhook-endpoints/${id}`)
    }
    for (const receiver of receivers) await receiver.close()
  })
  afterAll(() => world.close())

  async function endpoint(receiver: Receiver, events: EventName[]): Promise<{ id: string; secret: string }> {
    const { status: code, body } = await world.person.call('POST', '/v1/webhook-endpoints', {
      body: { url: receiver.url, events },
    })
    expect(code).toBe(201)
    return { id: body.webhookEndpoint.id as string, secret: body.secret as string }
  }

  async function happens(event: EventName, data: Record<string, unknown> = {}, owner = world.owner): Promise<string> {
    const { clock, database, deliveries } = world.service
    const id = newId('evt', clock.now())
    await database.statements.together((inside) => deliveries.event(inside, { id, owner, event, data }))
    return id
  }

  const eventsOf = (receiver: Receiver) => receiver.calls.map(({ body }) => JSON.parse(body) as unknown)

  test('reaches each subscribed endpoint, signed with its own secret, and no other', async () => {
    const [one, two] = receivers as [Receiver, Receiver]
    const first = await endpoint(one, ['payment.completed', 'revenue.milestone'])
    const second = await endpoint(two, ['payment.completed'])
    const id = await happens('payment.completed', { customerId: '0xabc', amount: 0.5, endpoint: '/x' })
    await Promise.all([one.waitForCalls(1), two.waitForCalls(1)])
    const body = { event: 'payment.completed', data: { customerId: '0xabc', amount: 0.5, endpoint: '/x' } }
    expect([eventsOf(one), eventsOf(two)]).toEqual([[body], [body]])
    expect(isGenuine(first.secret, one.calls[0]!)).toBe(true)
    expect(isGenuine(second.secret, two.calls[0]!)).toBe(true)
    expect(isGenuine(second.secret, one.calls[0]!)).toBe(false)
    expect(one.calls[0]!.id).not.toBe(two.calls[0]!.id)
    const listed = await world.person.call('GET', `/v1/deliveries?subject=${id}`)
    expect(listed.body.total).toBe(2)

    await happens('revenue.milestone', { milestone: 1000 })
    await one.waitForCalls(2)
    expect(eventsOf(one)[1]).toEqual({ event: 'revenue.milestone', data: { milestone: 1000 } })
    expect(two.calls).toHaveLength(1)
  })

  test('written twice under its id reaches an endpoint once', async () => {
    const [one] = receivers as [Receiver]
    await endpoint(one, ['run.completed'])
    const { clock, database, deliveries } = world.service
    const event = { id: newId('evt', clock.now()), owner: world.owner, event: 'run.completed' as const, data: {} }
    await deliveries.event(database.statements, event)
    await deliveries.event(database.statements, event)
    await one.waitForCalls(1)
    await happens('run.completed')
    await one.waitForCalls(2)
    expect(one.calls[0]!.id).not.toBe(one.calls[1]!.id)
  })

  test('that outside callers can cause is sent once per cause, and a limited number per hour', async () => {
    const [one] = receivers as [Receiver]
    const { id } = await endpoint(one, ['payment.failed'])
    const { clock, database, deliveries } = world.service
    const fails = async (...keys: string[]): Promise<number> => {
      await Promise.all(
        keys.map((key) => {
          const bound = { about: `chk_${id}`, key: Buffer.from(key), perHour: 3 }
          const event = {
            id: newId('evt', clock.now()),
            owner: world.owner,
            event: 'payment.failed' as const,
            data: {},
          }
          return database.statements.together((inside) => deliveries.event(inside, { ...event, bound }))
        }),
      )
      return (await world.person.call('GET', `/v1/deliveries?target=${id}`)).body.total as number
    }
    expect(await fails('a', 'a')).toBe(1)
    expect(await fails('b', 'c', 'd', 'e', 'f', 'g')).toBe(3)
    clock.forward(3_601_000)
    expect(await fails('a', 'h')).toBe(4)
  })

  test('reaches no endpoint of another account or environment', async () => {
    const [one] = receivers as [Receiver]
    await endpoint(one, ['run.completed'])
    const other = (await world.service.person()).caller.user.id
    await happens('run.completed', { theirs: true }, { userId: other, environment: 'sandbox' })
    await happens('run.completed', { theirs: true }, { ...world.owner, environment: 'production' })
    await happens('run.completed', { mine: true })
    await one.waitForCalls(1)
    expect(eventsOf(one)).toEqual([{ event: 'run.completed', data: { mine: true } }])
  })

  test('is not sent to a disabled or deleted endpoint, not even one that was waiting', async () => {
    const [one, two] = receivers as [Receiver, Receiver]
    const off = await endpoint(one, ['run.failed'])
    const deleted = await endpoint(two, ['run.failed'])
    for (const receiver of receivers) receiver.answers(status(500))
    const subject = await happens('run.failed', { n: 1 })
    await Promise.all([one.waitForCalls(1), two.waitForCalls(1)])
    const path = (id: string) => `/v1/webhook-endpoints/${id}`
    const disabled = await world.person.call('PATCH', path(off.id), { body: { status: 'disabled' } })
    expect(disabled.body.webhookEndpoint).toMatchObject({ status: 'disabled', disabledAt: expect.any(String) })
    expect((await world.person.call('DELETE', path(deleted.id))).status).toBe(204)
    await happens('run.failed', { n: 2 })
    world.service.clock.forward(6_000)
    const { deliveries: waiting } = (await world.person.call('GET', `/v1/deliveries?subject=${subject}`)).body as {
      deliveries: { id: string }[]
    }
    expect(waiting).toHaveLength(2)
    for (const { id } of waiting) {
      expect(await world.reaches(id, 'stopped')).toMatchObject({ lastError: 'endpoint_disabled', attemptCount: 1 })
      const { status: code, body } = await world.person.call('POST', `/v1/deliveries/${id}/redeliver`)
      expect([code, body.code]).toEqual([409, 'webhook_endpoint_disabled'])
    }
    expect([one.calls.length, two.calls.length]).toEqual([1, 1])

    one.answers(ok)
    const enabled = await world.person.call('PATCH', path(off.id), { body: { status: 'enabled' } })
    expect(enabled.body.webhookEndpoint).toMatchObject({ status: 'enabled', disabledAt: null, failingSince: null })
    await happens('run.failed', { n: 3 })
    await one.waitForCalls(2)
    expect(eventsOf(one)[1]).toEqual({ event: 'run.failed', data: { n: 3 } })
  })

  test('that fails for five days disables its endpoint, and its owner gets endpoint.disabled', async () => {
    const [bad, good] = receivers as [Receiver, Receiver]
    bad.answers(status(500))
    const failing = await endpoint(bad, ['run.failed'])
    await endpoint(good, ['endpoint.disabled'])
    const read = async () =>
      (await world.person.call('GET', `/v1/webhook-endpoints/${failing.id}`)).body.webhookEndpoint as Record<
        string,
        unknown
      >

    const { clock } = world.service
    for (let day = 0; day < 5; day++) {
      const id = await happens('run.failed', { day })
      await attempted(id)
      expect(await read()).toMatchObject({ status: 'enabled', failingSince: expect.any(String) })
      clock.forward(24 * 3_600_000)
    }
    // After five days, the next failed attempt disables the endpoint: this event's, or that of an earlier event.
    await happens('run.failed', { day: 5 })
    await good.waitForCalls(1)
    const ended = await read()
    expect(ended).toMatchObject({ status: 'disabled', disabledAt: expect.any(String) })
    const data = { id: failing.id, url: bad.url, failingSince: ended['failingSince'] }
    expect(eventsOf(good)).toEqual([{ event: 'endpoint.disabled', data }])
    expectLikeItsTest({ event: 'endpoint.disabled', data })
  })

  test('that nothing fetches for seven days disables its endpoint only where none was confirmed, and its owner is notified', async () => {
    const [, good] = receivers as [Receiver, Receiver]
    await endpoint(good, ['endpoint.disabled'])
    const fetching = async (name: string): Promise<string> => {
      const body = { url: `listen:${name}`, events: ['run.failed'] }
      const created = await world.person.call('POST', '/v1/webhook-endpoints', { body })
      return (created.body.webhookEndpoint as { id: string }).id
    }
    const statusOf = async (id: string): Promise<unknown> =>
      (await world.person.call('GET', `/v1/webhook-endpoints/${id}`)).body.webhookEndpoint.status
    const sent = async (id: string): Promise<string> =>
      (await world.person.call('POST', `/v1/webhook-endpoints/${id}/test`, { body: {} })).body.deliveryId as string
    const [away, busy] = [await fetching('away'), await fetching('busy')]
    const lost = [await sent(away), await sent(busy)]
    world.service.clock.forward(24 * 3_600_000)
    const deliveries = [{ id: await sent(busy), status: 200 }]
    await world.person.call('POST', `/v1/webhook-endpoints/${busy}/events/confirm`, { body: { deliveries } })
    world.service.clock.forward(6 * 24 * 3_600_000 + 16 * 60_000)
    await world.service.deliveries.sweep(new AbortController().signal)
    for (const id of lost) expect(await world.reaches(id, 'stopped')).toMatchObject({ lastError: 'not_fetched' })
    await good.waitForCalls(1)
    const data = { id: away, url: 'listen:away', failingSince: null }
    expect(eventsOf(good)).toEqual([{ event: 'endpoint.disabled', data }])
    expect([await statusOf(away), await statusOf(busy)]).toEqual(['disabled', 'enabled'])
  })

  test('that arrives once in five days keeps its endpoint', async () => {
    const [receiver] = receivers as [Receiver]
    const flaky = await endpoint(receiver, ['run.failed'])
    const { clock } = world.service
    for (let day = 0; day < 8; day++) {
      receiver.answers(day === 4 ? ok : status(500))
      await attempted(await happens('run.failed', { day }))
      clock.forward(24 * 3_600_000)
    }
    const { body } = await world.person.call('GET', `/v1/webhook-endpoints/${flaky.id}`)
    expect(body.webhookEndpoint.status).toBe('enabled')
  })

  /** Its first attempt, to the one subscribed endpoint, is recorded. */
  async function attempted(event: string): Promise<void> {
    const { deliveries } = (await world.person.call('GET', `/v1/deliveries?subject=${event}`)).body as {
      deliveries: { id: string }[]
    }
    await world.until(deliveries[0]!.id, ({ attemptCount }) => attemptCount > 0)
  }
})

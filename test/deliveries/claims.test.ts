import { expectLikeItsTest } from './samples.ts'
import { ATTEMPTS } from '../../service/deliveries/rules/schedule.ts'
import { newId } from '../../service/kit/ids.ts'
import { isGenuine, ok, startReceiver, status, type Answering, type Receiver } from './receiver.ts'
import { startWorld, type World } from './world.ts'

/**
 * A workflow acts once: one row decides whether it may, and the owner decides about a claim that is never confirmed.
 */
describe('a claim', () => {
  let world: World
  let owners: Receiver
  let ownersSecret: string

  beforeAll(async () => {
    world = await startWorld()
    owners = await startReceiver()
    const created = await world.person.call('POST', '/v1/webhook-endpoints', {
      body: { url: owners.url, events: ['delivery.unconfirmed', 'delivery.exhausted', 'delivery.stopped'] },
    })
    ownersSecret = created.body.secret as string
  })
  beforeEach(() => {
    world.receiver.answers(ok)
  })
  afterAll(async () => {
    await owners.close()
    await world.close()
  })

  const claim = async (id: string, headers: Record<string, string> = {}) =>
    (await world.person.call('POST', `/v1/deliveries/${id}/claim`, { headers })).body as { claimed: boolean }

  /** Turns the clock to each attempt until none follows. */
  async function exhaust(id: string): Promise<void> {
    const { clock } = world.service
    let delivery = await world.until(id, ({ attemptCount }) => attemptCount === 1)
    while (delivery.status === 'pending') {
      const before = delivery.attemptCount
      clock.forward(Date.parse(delivery.nextAttemptAt!) - clock.now().getTime() + 1)
      delivery = await world.until(id, ({ attemptCount }) => attemptCount > before)
    }
  }

  /** Acts like a workflow: asks whether it may act, then fails to respond. */
  const claims =
    (then: Answering): Answering =>
    async (response, call) => {
      await claim(call.id)
      await then(response, call)
    }

  test('raced by fifty succeeds exactly once', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await world.write()
      const answers = await Promise.all(Array.from({ length: 50 }, () => claim(id)))
      expect(answers.filter(({ claimed }) => claimed)).toHaveLength(1)
      expect(await claim(id)).toEqual({ claimed: false })
    }
  })

  test('repeated under its Idempotency-Key gets the same answer, and others are refused', async () => {
    const id = await world.write()
    const mine = { 'idempotency-key': 'execution-1' }
    expect(await claim(id, mine)).toEqual({ claimed: true })
    expect(await claim(id)).toEqual({ claimed: false })
    expect(await claim(id, mine)).toEqual({ claimed: true })
    expect(await claim(id, { 'idempotency-key': 'execution-2' })).toEqual({ claimed: false })
  })

  test('repeated after a crash, before its answer was stored, answers the same', async () => {
    const id = await world.write()
    const operation = newId('op', new Date())
    const { deliveries } = world.service
    expect(await deliveries.claim(world.owner, id, operation)).toEqual({ claimed: true })
    expect(await deliveries.claim(world.owner, id, operation)).toEqual({ claimed: true })
    expect(await deliveries.claim(world.owner, id)).toEqual({ claimed: false })
  })

  test('during an attempt leaves the delivery to be confirmed by its answer', async () => {
    world.receiver.answers(claims(ok))
    const id = await world.write()
    const delivery = await world.reaches(id, 'delivered')
    expect(delivery.claimedAt).not.toBeNull()
    expect(await claim(id)).toEqual({ claimed: false })
  })

  test('is possible after the delivery was confirmed', async () => {
    const id = await world.write()
    await world.reaches(id, 'delivered')
    expect(await claim(id)).toEqual({ claimed: true })
    expect((await world.reaches(id, 'delivered')).claimedAt).not.toBeNull()
  })

  test('that is never confirmed ends the schedule, and its owner gets delivery.unconfirmed', async () => {
    world.receiver.answers(claims(status(500, 'died')))
    const callsBefore = owners.calls.length
    const id = await world.write({ subject: 'pay_unconfirmed' })
    const delivery = await world.reaches(id, 'unconfirmed')
    expect(delivery).toMatchObject({ attemptCount: 1, lastStatus: 500, nextAttemptAt: null })
    await owners.waitForCalls(callsBefore + 1)
    const call = owners.calls[callsBefore]!
    expect(JSON.parse(call.body)).toEqual({ event: 'delivery.unconfirmed', data: { id, subject: 'pay_unconfirmed' } })
    expect(isGenuine(ownersSecret, call)).toBe(true)
    expectLikeItsTest(JSON.parse(call.body) as Parameters<typeof expectLikeItsTest>[0])
    // Time alone changes nothing any more.
    world.service.clock.forward(48 * 3_600_000)
    await world.reaches(await world.write(), 'unconfirmed')
    expect(world.receiver.of(id)).toHaveLength(1)
  })

  test('between two attempts is unconfirmed once no answer can come any more', async () => {
    world.receiver.answers(status(503))
    const id = await world.write({ waitMs: 5_000 })
    await world.until(id, ({ attemptCount }) => attemptCount === 1)
    expect(await claim(id)).toEqual({ claimed: true })
    expect((await world.reaches(id, 'claimed')).nextAttemptAt).toBeNull()
    world.service.clock.forward(14_000)
    expect((await world.until(id, () => true)).status).toBe('claimed')
    world.service.clock.forward(2_000)
    await world.reaches(id, 'unconfirmed')
    expect(world.receiver.of(id)).toHaveLength(1)
  })

  test('is not confirmed by an answer that the delivery is a duplicate', async () => {
    world.receiver.answers(claims(status(200, '{"duplicate":true}')))
    const id = await world.write()
    expect((await world.reaches(id, 'unconfirmed')).lastStatus).toBe(200)
  })

  test('is reset when its owner redelivers, under the same webhook-id', async () => {
    world.receiver.answers(claims(status(500)))
    const id = await world.write()
    await world.reaches(id, 'unconfirmed')
    world.receiver.answers(claims(ok))
    const { status: code, body } = await world.person.call('POST', `/v1/deliveries/${id}/redeliver`)
    expect(code).toBe(202)
    expect(body.delivery).toMatchObject({ id, claimedAt: null })
    const delivery = await world.reaches(id, 'delivered')
    expect(delivery.claimedAt).not.toBeNull()
    expect(world.receiver.of(id)).toHaveLength(2)
    expect(await claim(id)).toEqual({ claimed: false })
  })

  test('is reopened by a failure with onUnconfirmed: redeliver, and the schedule continues', async () => {
    let runs = 0
    world.receiver.answers(async (response, call) => {
      if ((await claim(call.id)).claimed) runs++
      await status(runs < 3 ? 500 : 200)(response, call)
    })
    const id = await world.write({ onUnconfirmed: 'redeliver' })
    await world.until(id, ({ attemptCount }) => attemptCount === 1)
    world.service.clock.forward(6_000)
    await world.until(id, ({ attemptCount }) => attemptCount === 2)
    world.service.clock.forward(36_000)
    const delivery = await world.reaches(id, 'delivered')
    expect(delivery.attemptCount).toBe(3)
    expect(runs).toBe(3)
  })

  test('is no condition for delivery.stopped, which the owner gets when the receiver answers 410', async () => {
    world.receiver.answers(status(410))
    const callsBefore = owners.calls.length
    const id = await world.write({ subject: 'pay_gone' })
    await world.reaches(id, 'stopped')
    await owners.waitForCalls(callsBefore + 1)
    expect(JSON.parse(owners.calls[callsBefore]!.body)).toEqual({
      event: 'delivery.stopped',
      data: { id, subject: 'pay_gone' },
    })
    expectLikeItsTest(JSON.parse(owners.calls[callsBefore]!.body) as Parameters<typeof expectLikeItsTest>[0])
  })

  test('of a fetched delivery is confirmed by its program, and replayed with an open claim', async () => {
    const created = await world.person.call('POST', '/v1/webhook-endpoints', {
      body: { url: 'listen:claims', events: ['run.completed'] },
    })
    const endpoint = `/v1/webhook-endpoints/${(created.body.webhookEndpoint as { id: string }).id}`
    const sent = async () =>
      (await world.person.call('POST', `${endpoint}/test`, { body: {} })).body.deliveryId as string
    const replay = async () =>
      (await world.person.call('POST', `${endpoint}/events/replay`, { body: { since: '2020-01-01T00:00:00Z' } }))
        .body as { replayed: number }

    const id = await sent()
    expect(await claim(id)).toEqual({ claimed: true })
    const body = { deliveries: [{ id, status: 200 }] }
    expect((await world.person.call('POST', `${endpoint}/events/confirm`, { body })).status).toBe(204)
    expect(await world.until(id, () => true)).toMatchObject({ status: 'delivered', lastStatus: 200 })
    // The claim has no end any more.
    world.service.clock.forward(60_000)
    const unconfirmed = await sent()
    expect(await claim(unconfirmed)).toEqual({ claimed: true })
    world.service.clock.forward(60_000)
    await world.reaches(unconfirmed, 'unconfirmed')
    expect(await world.until(id, () => true)).toMatchObject({ status: 'delivered' })

    expect(await replay()).toEqual({ replayed: 2 })
    for (const each of [id, unconfirmed]) {
      expect(await world.until(each, () => true)).toMatchObject({ status: 'pending', claimedAt: null })
      expect(await claim(each)).toEqual({ claimed: true })
    }
  })

  test('of an exhausted delivery is refused, until it is redelivered', async () => {
    world.receiver.answers(status(500))
    const id = await world.write()
    await exhaust(id)
    expect(await claim(id)).toEqual({ claimed: false })
    world.receiver.answers(claims(ok))
    await world.person.call('POST', `/v1/deliveries/${id}/redeliver`)
    expect((await world.reaches(id, 'delivered')).claimedAt).not.toBeNull()
  })

  test('late in the last attempt, before its failure is recorded, is accepted', async () => {
    let calls = 0
    const late: unknown[] = []
    world.receiver.answers(async (response, call) => {
      if (++calls === ATTEMPTS) late.push(await claim(call.id))
      await status(500)(response, call)
    })
    const id = await world.write()
    await exhaust(id)
    expect(late).toEqual([{ claimed: true }])
    expect((await world.until(id, () => true)).status).toBe('unconfirmed')
  })
})

import { ok, status } from '../../deliveries/receiver.ts'
import { startWorld, type World } from '../../deliveries/world.ts'

describe('POST /deliveries/{id}/redeliver', () => {
  let world: World

  beforeAll(async () => {
    world = await startWorld()
  })
  beforeEach(() => {
    world.receiver.answers(ok)
  })
  afterAll(() => world.close())

  const redeliver = (id: string, headers: Record<string, string> = {}) =>
    world.person.call('POST', `/v1/deliveries/${id}/redeliver`, { headers })

  test('sends the same bytes under the same webhook-id again, at once, in any state', async () => {
    const id = await world.write()
    await world.reaches(id, 'delivered')
    const answer = await redeliver(id)
    expect(answer.status).toBe(202)
    expect(answer.body.delivery).toMatchObject({ id })
    await world.until(id, ({ status, attemptCount }) => status === 'delivered' && attemptCount === 2)
    const [first, second] = world.receiver.of(id)
    expect(second!.body).toBe(first!.body)

    world.receiver.answers(status(410))
    const stopped = await world.write()
    await world.reaches(stopped, 'stopped')
    world.receiver.answers(ok)
    await redeliver(stopped)
    await world.reaches(stopped, 'delivered')
  })

  test('sends a waiting delivery now, and restarts its schedule', async () => {
    world.receiver.answers(status(500))
    const id = await world.write()
    await world.until(id, ({ attemptCount }) => attemptCount === 1)
    world.service.clock.forward(6_000)
    await world.until(id, ({ attemptCount }) => attemptCount === 2)
    await redeliver(id)
    const delivery = await world.until(id, ({ attemptCount }) => attemptCount === 3)
    const waitMs = Date.parse(delivery.nextAttemptAt!) - Date.parse(delivery.attempts[2]!.at)
    expect(waitMs).toBeGreaterThanOrEqual(5_000)
    expect(waitMs).toBeLessThan(10_000)
  })

  test('repeated under its Idempotency-Key, or by the same act after a crash, sends it once', async () => {
    const id = await world.write()
    await world.reaches(id, 'delivered')
    const headers = { 'idempotency-key': 'again' }
    await redeliver(id, headers)
    await redeliver(id, headers)
    const delivery = await world.until(id, ({ status, attemptCount }) => status === 'delivered' && attemptCount === 2)
    const { deliveries } = world.service
    await deliveries.redeliver(world.owner, id, 'op_1')
    await world.until(id, ({ status, attemptCount }) => status === 'delivered' && attemptCount === 3)
    await deliveries.redeliver(world.owner, id, 'op_1')
    await world.reaches(await world.write(), 'delivered')
    expect(delivery.attemptCount).toBe(2)
    expect(world.receiver.of(id)).toHaveLength(3)
  })

  test('while an attempt is under way has that one change nothing any more', async () => {
    const held: (() => void)[] = []
    world.receiver.answers((response) => void held.push(() => response.writeHead(500).end()))
    const id = await world.write()
    while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    world.receiver.answers(ok)
    await redeliver(id)
    await world.reaches(id, 'delivered')
    for (const end of held) end()
    const delivery = await world.until(id, ({ attemptCount }) => attemptCount === 2)
    expect(delivery.status).toBe('delivered')
    expect(delivery.attempts.map((attempt) => attempt.status).sort()).toEqual([200, 500])
  })
})

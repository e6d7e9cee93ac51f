import { createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ATTEMPTS } from '../../service/deliveries/rules/schedule.ts'
import { heldDuring } from '../outbound/memory.ts'
import { ok, startReceiver, status, type Answering } from './receiver.ts'
import { startWorld, type DeliveryView, type World } from './world.ts'

/** Receivers with the faults of real ones. Each delivery ends as it should, with every attempt recorded. */
describe('a receiver', () => {
  let world: World

  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world.close())

  const outcomes = (delivery: DeliveryView) => delivery.attempts.map(({ status, error }) => [status, error])

  /** The clock is turned to just after the next attempt's time. */
  function turnTo(delivery: DeliveryView): void {
    const { clock } = world.service
    clock.forward(Date.parse(delivery.nextAttemptAt!) - clock.now().getTime() + 1)
  }

  test('that is down for a while gets every delivery once it is back', async () => {
    const down = await startReceiver()
    const { url } = down
    await down.close()
    const ids = await Promise.all(Array.from({ length: 20 }, () => world.write({ to: { url } })))
    const first = await Promise.all(ids.map((id) => world.until(id, ({ attemptCount }) => attemptCount === 1)))
    for (const delivery of first) expect(outcomes(delivery)).toEqual([[null, 'connection_failed']])
    const back = await startReceiver(ok, Number(new URL(url).port))
    world.service.clock.forward(6_000)
    for (const id of ids) await world.reaches(id, 'delivered')
    expect(new Set(back.calls.map(({ id }) => id))).toEqual(new Set(ids))
    expect(back.calls).toHaveLength(ids.length)
    await back.close()
  })

  test('that answers 500 is tried ten times by the schedule, then the delivery is exhausted', async () => {
    world.receiver.answers(status(500, 'broken'))
    const id = await world.write()
    let delivery = await world.until(id, ({ attemptCount }) => attemptCount === 1)
    while (delivery.status === 'pending') {
      const before = delivery.attemptCount
      turnTo(delivery)
      delivery = await world.until(id, ({ attemptCount }) => attemptCount > before)
    }
    world.receiver.answers(ok)
    expect(delivery).toMatchObject({
      status: 'exhausted',
      attemptCount: ATTEMPTS,
      lastStatus: 500,
      nextAttemptAt: null,
    })
    expect(outcomes(delivery)).toEqual(Array.from({ length: ATTEMPTS }, () => [500, null]))
    const at = delivery.attempts.map((attempt) => Date.parse(attempt.at))
    const waits = at.slice(1).map((moment, place) => (moment - at[place]!) / 1000)
    ;[5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200, 86_400].forEach((planned, place) => {
      expect(waits[place]).toBeGreaterThanOrEqual(planned)
      expect(waits[place]).toBeLessThan(planned * 1.1 + 3)
    })
  })

  test("that hangs is cut off after the delivery's time limit", async () => {
    const held: (() => void)[] = []
    world.receiver.answers((response) => void held.push(() => response.end()))
    const id = await world.write({ waitMs: 300 })
    const delivery = await world.until(id, ({ attemptCount }) => attemptCount === 1)
    expect(outcomes(delivery)).toEqual([[null, 'response_timeout']])
    expect(delivery.attempts[0]!.durationMs).toBeGreaterThanOrEqual(290)
    expect(delivery.attempts[0]!.durationMs).toBeLessThan(2_000)
    for (const end of held) end()
    world.receiver.answers(ok)
    world.service.clock.forward(6_000)
    expect((await world.reaches(id, 'delivered')).attemptCount).toBe(2)
  })

  test('has 15 s unless the delivery sets another time, and never more than 180 s', async () => {
    const usual = await world.write()
    const longest = await world.write({ waitMs: 1_000_000 })
    const { rows } = await world.service.database.pool.query<{ id: string; wait_ms: number }>(
      'SELECT id, wait_ms FROM delivery WHERE id = ANY($1)',
      [[usual, longest]],
    )
    expect(Object.fromEntries(rows.map((row) => [row.id, row.wait_ms]))).toEqual({
      [usual]: 15_000,
      [longest]: 180_000,
    })
    await world.reaches(longest, 'delivered')
  })

  test('that answers 410 gets no further attempt', async () => {
    world.receiver.answers(status(410, 'gone'))
    const id = await world.write()
    const delivery = await world.reaches(id, 'stopped')
    expect(delivery).toMatchObject({ attemptCount: 1, lastStatus: 410, nextAttemptAt: null })
    world.receiver.answers(ok)
    world.service.clock.forward(48 * 3_600_000)
    await world.reaches(await world.write(), 'delivered')
    expect(world.receiver.of(id)).toHaveLength(1)
  })

  test.each([301, 302, 303, 307, 308])(
    'that redirects with %d gets a retry, and the redirect is not followed',
    async (code) => {
      const elsewhere = await startReceiver()
      world.receiver.answers((response) => void response.writeHead(code, { location: elsewhere.url }).end())
      const id = await world.write()
      const delivery = await world.until(id, ({ attemptCount }) => attemptCount === 1)
      expect(delivery.status).toBe('pending')
      expect(outcomes(delivery)).toEqual([[code, null]])
      expect(elsewhere.calls).toEqual([])
      await elsewhere.close()
    },
  )

  test.each([
    [200, 'delivered'],
    [500, 'pending'],
  ])('that sends a gigabyte with its %d is read no further than needed', async (code, state) => {
    let sent = 0
    const piece = Buffer.alloc(65_536, 'x')
    const gigabyte: Answering = async (response) => {
      response.writeHead(code)
      const pieces = function* () {
        for (let n = 0; n < 16_384; n++) {
          sent += piece.length
          yield piece
        }
      }
      // A receiver that closes the connection before the end makes this fail, as expected.
      await pipeline(Readable.from(pieces()), response).catch(() => undefined)
    }
    world.receiver.answers(gigabyte)
    const { result, buffers } = await heldDuring(async () => {
      const ids = await Promise.all(Array.from({ length: 5 }, () => world.write()))
      return await Promise.all(ids.map((id) => world.until(id, ({ attemptCount }) => attemptCount === 1)))
    })
    for (const delivery of result) {
      expect(delivery).toMatchObject({ status: state, lastStatus: code })
      expect(delivery.attempts[0]!.answer).toBe('x'.repeat(2_048))
    }
    // The sender is in this process too, so its memory counts as well; five gigabytes would show.
    expect(sent).toBeLessThan(200_000_000)
    expect(buffers).toBeLessThan(200_000_000)
    world.receiver.answers(ok)
  })

  test('that sends 200 and never ends its answer counts as delivered', async () => {
    world.receiver.answers((response) => void response.writeHead(200).write('{"taken":'))
    const id = await world.write({ waitMs: 300 })
    const delivery = await world.reaches(id, 'delivered')
    expect(delivery.attempts).toMatchObject([{ status: 200, error: 'response_timeout', answer: '{"taken":' }])
    world.receiver.answers(ok)
  })

  test('that does not answer in HTTP, or hangs up, gets a retry', async () => {
    const answers = ['SSH-2.0-OpenSSH_9.2\r\n', '']
    for (const words of answers) {
      const server = createServer((socket: Socket) => {
        socket.on('error', () => undefined)
        socket.end(words)
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as { port: number }
      const id = await world.write({ to: { url: `http://127.0.0.1:${String(port)}/` } })
      const delivery = await world.until(id, ({ attemptCount }) => attemptCount === 1)
      expect(delivery.status).toBe('pending')
      expect(delivery.lastError).toMatch(/^(response_invalid|connection_failed)$/)
      server.close()
    }
  })

  test('at an address that may not be called is never called', async () => {
    const id = await world.write({ to: { url: 'http://169.254.169.254/latest/meta-data' } })
    const delivery = await world.until(id, ({ attemptCount }) => attemptCount === 1)
    expect(outcomes(delivery)).toEqual([[null, 'address_refused']])
  })

  test('has as much of its answer stored as the delivery asks for', async () => {
    world.receiver.answers(status(200, 'y'.repeat(100_000)))
    const subject = 'pay_shown'
    const id = await world.write({ subject, keepBytes: 65_536, waitMs: 180_000 })
    const delivery = await world.reaches(id, 'delivered')
    expect(delivery.attempts[0]!.answer).toHaveLength(2_048)
    const shown = await world.service.deliveries.bySubject(null, [subject, 'pay_unknown'])
    expect([...shown.keys()]).toEqual([subject])
    expect(shown.get(subject)).toMatchObject({ id, state: 'delivered', attempts: 1, answer: 'y'.repeat(65_536) })
    const other = { userId: (await world.service.person()).caller.user.id, environment: 'sandbox' as const }
    expect((await world.service.deliveries.bySubject(other, [subject])).size).toBe(0)
    world.receiver.answers(ok)
  })
})

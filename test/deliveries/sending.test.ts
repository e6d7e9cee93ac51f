import { isGenuine, ok, startReceiver, status } from './receiver.ts'
import { startWorld, type World } from './world.ts'

describe('a delivery', () => {
  let world: World

  beforeAll(async () => {
    world = await startWorld()
  })
  beforeEach(() => {
    world.receiver.answers(ok)
  })
  afterAll(() => world.close())

  test('arrives once, signed over the very bytes sent, and is delivered', async () => {
    const body = '{"amount": 5,  "note":"\\u00e4 – ünï"}'
    const id = await world.write({ body, headers: { 'coinslot-test': 'true' } })
    const delivery = await world.reaches(id, 'delivered')
    const calls = world.receiver.of(id)
    expect(calls).toHaveLength(1)
    const [call] = calls
    expect(call?.body).toBe(body)
    expect(call?.headers).toMatchObject({
      'webhook-id': id,
      'coinslot-test': 'true',
      'content-type': 'application/json',
    })
    expect(isGenuine(world.secret, call!)).toBe(true)
    expect(isGenuine(world.secret, { ...call!, body: body.replace('5', '6') })).toBe(false)
    expect(delivery).toMatchObject({ attemptCount: 1, lastStatus: 200, lastError: null, nextAttemptAt: null })
    expect(delivery.attempts).toEqual([
      { at: expect.any(String), durationMs: expect.any(Number), status: 200, error: null, answer: '{"ok":true}' },
    ])
  })

  test('written twice is sent once', async () => {
    const id = await world.write()
    await world.write({ id })
    await world.reaches(id, 'delivered')
    await world.reaches(await world.write(), 'delivered')
    expect(world.receiver.of(id)).toHaveLength(1)
  })

  test('of a rolled-back transaction is never sent', async () => {
    const before = world.receiver.calls.length
    const { service, owner, target } = world
    await expect(
      service.database.statements.together(async (inside) => {
        const id = 'dlv_00000000000000000000000000'
        await service.deliveries.write(inside, { id, owner, subject: 'pay_undone', to: { target }, body: '{}' })
        throw new Error('undone')
      }),
    ).rejects.toThrow('undone')
    await world.reaches(await world.write(), 'delivered')
    expect(world.receiver.calls).toHaveLength(before + 1)
  })

  test("is refused for another account's target", async () => {
    const other = await world.service.person()
    const owner = { userId: other.caller.user.id, environment: 'sandbox' as const }
    await expect(world.write({ owner })).rejects.toThrow("not its owner's")
  })

  test('to a single address is signed with the secret of the account', async () => {
    const { body } = await world.person.call('GET', '/v1/signing-secret')
    const id = await world.write({ to: { url: world.receiver.url } })
    await world.reaches(id, 'delivered')
    expect(isGenuine(body.signingSecret.secret as string, world.receiver.of(id)[0]!)).toBe(true)
  })

  test('follows its target to another address', async () => {
    const moved = await startReceiver()
    const { service, target, owner } = world
    const put = await service.deliveries.targets.put(service.database.statements, { id: target, owner, url: moved.url })
    expect(put.secret).toBe(world.secret)
    const id = await world.write()
    await world.reaches(id, 'delivered')
    expect(moved.of(id)).toHaveLength(1)
    await service.deliveries.targets.put(service.database.statements, { id: target, owner, url: world.receiver.url })
    await moved.close()
  })

  test('that is refused is sent again after 5 s, under the same webhook-id', async () => {
    world.receiver.answers(status(500, 'not now'))
    const id = await world.write()
    const failed = await world.until(id, ({ attemptCount }) => attemptCount === 1)
    expect(failed).toMatchObject({ status: 'pending', lastStatus: 500 })
    const waitMs = Date.parse(failed.nextAttemptAt!) - Date.parse(failed.attempts[0]!.at)
    expect(waitMs).toBeGreaterThanOrEqual(5_000)
    world.receiver.answers(ok)
    world.service.clock.forward(6_000)
    const delivery = await world.reaches(id, 'delivered')
    expect(delivery.attempts.map((attempt) => [attempt.status, attempt.answer])).toEqual([
      [500, 'not now'],
      [200, '{"ok":true}'],
    ])
    expect(world.receiver.of(id)).toHaveLength(2)
  })
})

import { ok, status } from '../../deliveries/receiver.ts'
import { startWorld, type World } from '../../deliveries/world.ts'

describe('GET /deliveries', () => {
  let world: World
  let delivered: string
  let stopped: string

  beforeAll(async () => {
    world = await startWorld()
    world.receiver.answers(ok)
    delivered = await world.write({ subject: 'pay_a' })
    await world.reaches(delivered, 'delivered')
    world.service.clock.forward(1)
    world.receiver.answers(status(410, 'no more'))
    stopped = await world.write({ subject: 'run_b', to: { url: world.receiver.url } })
    await world.reaches(stopped, 'stopped')
  })
  afterAll(() => world.close())

  const list = async (query = '') => {
    const { body } = await world.person.call('GET', `/v1/deliveries${query}`)
    return body as { deliveries: { id: string }[] }
  }
  const ids = async (query: string) => (await list(query)).deliveries.map(({ id }) => id)

  test('lists the newest first, each with its status and last attempt', async () => {
    const body = await list()
    expect(body).toMatchObject({ total: 2, limit: 20, offset: 0 })
    expect(body.deliveries).toEqual([
      {
        id: stopped,
        subject: 'run_b',
        target: null,
        url: world.receiver.url,
        status: 'stopped',
        attemptCount: 1,
        lastStatus: 410,
        lastError: null,
        lastAttemptAt: expect.any(String),
        nextAttemptAt: null,
        claimedAt: null,
        deliveredAt: null,
        createdAt: expect.any(String),
      },
      expect.objectContaining({
        id: delivered,
        target: world.target,
        status: 'delivered',
        deliveredAt: expect.any(String),
      }),
    ])
  })

  test('filters by subject, status and target, and by several of them', async () => {
    expect(await ids('?subject=pay_a')).toEqual([delivered])
    expect(await ids('?subject=pay_none')).toEqual([])
    expect(await ids('?status=stopped')).toEqual([stopped])
    expect(await ids(`?target=${world.target}`)).toEqual([delivered])
    expect(await ids(`?target=${world.target}&status=stopped`)).toEqual([])
    expect(await ids(`?target=${world.target}&status=delivered&subject=pay_a`)).toEqual([delivered])
    expect(await list('?status=stopped&limit=1&offset=1')).toMatchObject({ deliveries: [], total: 1 })
  })

  test.each(['status=done', 'limit=101', 'offset=-1', 'subject=a&subject=b'])('%s is a 400', async (query) => {
    const { status: code, body } = await world.person.call('GET', `/v1/deliveries?${query}`)
    expect([code, Object.keys(body.details as object)]).toEqual([400, [query.split('=')[0]]])
  })

  test('shows one with its body and every attempt', async () => {
    const { status: code, body } = await world.person.call('GET', `/v1/deliveries/${stopped}`)
    expect(code).toBe(200)
    expect(JSON.parse(body.delivery.body as string)).toHaveProperty('payment')
    expect(body.delivery.attempts).toEqual([
      { at: expect.any(String), durationMs: expect.any(Number), status: 410, error: null, answer: 'no more' },
    ])
  })
})

import { openRedis } from '../../service/api/redis.ts'
import { hasRedis, startRedis, type RedisServer } from '../queue/redis.ts'
import { Upstream } from '../tools/calls/upstream.ts'
import { toolWorld, type ToolWorld } from '../tools/calls/world.ts'
import { until } from '../harness/until.ts'

if (!hasRedis()) process.stderr.write('redis-server is not installed: what happens without it is not tested\n')

const LIMIT = 40

/** A count is never worth a payment: Redis may go, fall silent and come back, and money moves all the same. */
;(hasRedis() ? describe : describeNothing)('a Redis that is not always there', () => {
  let redis: RedisServer
  let world: ToolWorld
  const workflow = new Upstream()

  beforeAll(async () => {
    redis = await startRedis()
    await workflow.listen()
    workflow.respondWith('/paid', { message: 'ready' })
    world = await toolWorld({ REDIS_URL: redis.url, RATE_TOOLS_PER_MINUTE: String(LIMIT), TOOL_CALLS_AT_ONCE: '2' })
    world.upstream.respondWith('/text', {})
    await world.service.start()
    await until(async () => (await readiness()).redis === 'ok')
  })
  afterAll(async () => {
    redis.thaw()
    await world.close()
    await workflow.close()
    await redis.close()
  })

  async function readiness(): Promise<{ status: string; redis: string }> {
    const answer = await world.service.call('GET', '/readyz')
    expect(answer.status).toBe(200)
    return answer.body as { status: string; redis: string }
  }

  async function up(): Promise<string | undefined> {
    const { text } = await world.service.call('GET', '/metrics')
    return /^coinslot_redis_up (\d)$/m.exec(text)?.[1]
  }

  /** Money in, a call that costs, and a payment whose workflow has to hear of it. */
  async function moneyMoves(): Promise<void> {
    const person = await world.caller(3)
    expect((await world.call(person, 'acme-get-text')).status).toBe(200)
    const created = await person.call('POST', '/v1/checkouts', {
      body: {
        callbackUrl: `${workflow.url}/paid`,
        product: { name: 'A thing' },
        price: 1,
        network: 'base-sepolia',
        recipient: '0x00000000000000000000000000000000000000a1',
        testMode: true,
      },
    })
    const paid = await world.service.call('POST', `/p/${String(created.body.checkout.id)}/pay`, {
      body: { input: {}, simulate: true },
    })
    expect(paid).toMatchObject({ status: 200, body: { payment: { status: 'paid' } } })
    payments.push(String(paid.body.payment.txHash))
  }
  const payments: string[] = []

  test('an outage moves money all the same, limits per process, and raises an alarm until it ends', async () => {
    await moneyMoves()
    await redis.kill()
    await until(async () => (await readiness()).redis === 'away')
    expect(await up()).toBe('0')
    await moneyMoves()
    const { key } = await world.caller()
    const statuses: number[] = []
    for (let call = 0; call < LIMIT + 1; call++) statuses.push((await world.call(key, 'acme-get-text')).status)
    expect(statuses).toEqual([...Array.from({ length: LIMIT }, () => 200), 429])
    const open = world.upstream.holds('/slow', {})
    const other = await world.caller()
    const requestsBefore = world.upstream.to('/slow').length
    const held = [0, 1].map(() => world.call(other, 'acme-get-slow'))
    await world.upstream.waitForRequest('/slow', requestsBefore + 2)
    expect((await world.call(other, 'acme-get-slow')).status).toBe(429)
    open()
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200])

    await redis.revive()
    await until(async () => (await readiness()).redis === 'ok')
    expect(await up()).toBe('1')
    // Counted together again, from an empty Redis.
    expect((await world.call(key, 'acme-get-text')).status).toBe(200)
    await moneyMoves()
  })

  test('silent: money moves before it is noticed, and after', async () => {
    redis.freeze()
    await moneyMoves()
    await until(async () => (await readiness()).redis === 'away')
    await moneyMoves()
    redis.thaw()
    await until(async () => (await readiness()).redis === 'ok')
    await moneyMoves()
  })

  test("a flush at any time loses no payment's delivery", async () => {
    await redis.flush()
    await moneyMoves()
    await redis.flush()
    await until(() => {
      // What failed twice while Redis was silent is tried again half a minute later.
      world.service.clock.forward(500)
      return Promise.resolve(payments.every((hash) => workflow.requests.some(({ body }) => body.includes(hash))))
    })
  })

  test('an outage and a recovery of Redis are each logged once', async () => {
    const lines: string[] = []
    const append = (_fields: object, line?: string): void => void lines.push(line ?? '')
    const own = await startRedis()
    const client = openRedis(own.url, { info: append, warn: append, error: append })
    await until(() => Promise.resolve(client.status === 'ready'))
    await own.kill()
    let tries = 0
    client.on('reconnecting', () => tries++)
    await until(() => Promise.resolve(tries >= 5))
    for (let nth = 0; nth < 20; nth++) await client.get('x').catch(() => undefined)
    await own.revive()
    await until(() => Promise.resolve(client.status === 'ready'))
    expect(lines).toEqual([
      'Redis is unreachable; each process counts limits for itself.',
      'Redis is reachable again; limits are shared again.',
    ])
    client.disconnect()
    await own.close()
  })
})

function describeNothing(name: string): void {
  test(name, () => {
    expect(hasRedis()).toBe(false)
  })
}

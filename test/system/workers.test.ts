import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { readConfig, ROLES } from '../../service/config.ts'
import { restartAfterMs, shareOut, withheldFrom } from '../../service/processes/model.ts'
import { freePort } from '../harness/ports.ts'
import { childrenOf, isAlive, ServiceProcess } from '../harness/process.ts'
import { hasRedis, startRedis, type RedisServer } from '../queue/redis.ts'

const KEY = 'csk_test_a-key-of-several-processes'

/** What one port with several processes behind it promises: as one of them, but that one may fall. */
;(hasRedis() ? describe : describeNothing)('several processes behind one port', () => {
  let redis: RedisServer
  let folder: string
  const started: ServiceProcess[] = []

  beforeAll(async () => {
    redis = await startRedis()
    folder = mkdtempSync(path.join(tmpdir(), 'coinslot-workers-'))
  })
  afterEach(async () => {
    for (const service of started) if (!service.hasEnded) service.kill('SIGTERM')
    for (const service of started.splice(0)) await service.ended()
  })
  afterAll(async () => {
    await redis.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function start(port: number, more: Record<string, string> = {}): Promise<ServiceProcess> {
    const service = new ServiceProcess({
      PORT: String(port),
      DEMO_PORT: '0',
      DATA_DIR: path.join(folder, 'data'),
      REDIS_URL: redis.url,
      WORKERS: '2',
      DEMO_API_KEY: KEY,
      LOG_LEVEL: 'info',
      ...more,
    })
    started.push(service)
    await service.waitFor('"processes":2')
    return service
  }

  /** Each by a connection of its own, so that the processes take turns. */
  async function request(
    port: number,
    at: string,
    body?: unknown,
  ): Promise<{ status: number; text: string; left: number }> {
    const response = await fetch(`http://127.0.0.1:${String(port)}${at}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json', Connection: 'close' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    return {
      status: response.status,
      text: await response.text(),
      left: Number(response.headers.get('ratelimit-remaining')),
    }
  }

  const counted = (page: string, process: number): number =>
    Number(
      new RegExp(
        `^coinslot_http_request_seconds_count[{][^}]*route="/v1/me"[^}]*process="${String(process)}"[}] (\\d+)$`,
        'm',
      ).exec(page)?.[1],
    )

  it('answers from each process, counts limits over all, and reports all in one scrape', async () => {
    const port = await freePort()
    const service = await start(port)
    await service.waitFor('Coinslot is running')
    expect((await request(port, '/readyz')).status).toBe(200)
    const left: number[] = []
    for (let turn = 0; turn < 10; turn++) {
      const answer = await request(port, '/v1/me')
      expect(answer.status).toBe(200)
      left.push(answer.left)
    }
    expect(left).toEqual(left.map((_, turn) => left[0]! - turn))
    const { text } = await request(port, '/metrics')
    expect([counted(text, 1), counted(text, 2)]).toEqual([5, 5])
    expect(text.match(/^# TYPE coinslot_http_request_seconds /gm)).toHaveLength(1)
    // One of them does what runs by itself; the greeting, with the key, is said once.
    expect(service.output.match(/"roles":\[[^\]]*"worker"/g)).toHaveLength(1)
    expect(service.output.match(/Coinslot is running/g)).toHaveLength(1)

    // One of them falls amid requests: the others go on, and it comes back.
    const before = childrenOf(service.pid ?? 0)
    expect(before).toHaveLength(2)
    process.kill(before[0]!, 'SIGKILL')
    await service.waitFor('A process ended unexpectedly')
    for (let turn = 0; turn < 6; turn++)
      expect((await request(port, '/v1/wallet/deposit', { amount: 1 })).status).toBe(200)
    await service.waitFor('The process is ready again')
    const after = childrenOf(service.pid ?? 0)
    expect(after).toHaveLength(2)
    expect(after).not.toContain(before[0])
    expect(JSON.parse((await request(port, '/v1/wallet/balance')).text)).toMatchObject({ wallet: { balance: 6 } })

    service.kill('SIGTERM')
    expect(await service.ended()).toBe(0)
    for (const pid of after) expect(isAlive(pid)).toBe(false)
  })

  it('ends in order at Ctrl-C, which a terminal sends to every process', async () => {
    const service = await start(await freePort())
    const all = childrenOf(service.pid ?? 0)
    for (const pid of all) process.kill(pid, 'SIGINT')
    service.kill('SIGINT')
    expect(await service.ended()).toBe(0)
    expect(service.output).not.toContain('could not stop')
    for (const pid of all) expect(isAlive(pid)).toBe(false)
  })

  it('leaves no process behind when the first one is killed', async () => {
    const service = await start(await freePort())
    const all = childrenOf(service.pid ?? 0)
    service.kill('SIGKILL')
    await service.ended()
    while (all.some(isAlive)) await new Promise((resolve) => setImmediate(resolve))
  })

  it('reports in one sentence why it cannot start, and leaves nothing running', async () => {
    const occupant = createServer().listen(0, '127.0.0.1')
    await once(occupant, 'listening')
    const { port } = occupant.address() as { port: number }
    const service = new ServiceProcess({
      PORT: String(port),
      HOST: '127.0.0.1',
      DEMO_PORT: '0',
      DATA_DIR: path.join(folder, 'data'),
      REDIS_URL: redis.url,
      WORKERS: '2',
      LOG_LEVEL: 'error',
    })
    started.push(service)
    expect(await service.ended()).toBe(1)
    expect(service.output).toContain(`Port ${String(port)} is already taken`)
    expect(service.output).toContain('Process 1 did not start')
    occupant.close()
  })
})

describe('the share of each process', () => {
  it('serves every role, and works on its own in at least one', () => {
    const some = fc.subarray([...ROLES], { minLength: 1 })
    fc.assert(
      fc.property(some, fc.integer({ min: 2, max: 64 }), (roles, processes) => {
        const shares = shareOut(roles, processes)
        expect(shares).toHaveLength(processes)
        const listening = shares.filter(({ listens }) => listens)
        const expected = roles.filter((role) => role !== 'worker')
        // The port hands a connection to any that listens: each must serve all that is asked for.
        for (const { roles: served } of listening) expect(served).toEqual(expect.arrayContaining(expected))
        expect(listening.length).toBeGreaterThanOrEqual(Math.ceil(processes / 2))
        const working = shares.filter(({ roles: served }) => served.includes('worker'))
        expect(working.length > 0).toBe(roles.includes('worker'))
        for (const { roles: served } of shares) {
          const withheld = Object.keys(withheldFrom(served))
          expect(withheld.includes('WALLET_XPRV')).toBe(!served.includes('worker'))
          expect(withheld.includes('PAYER_SEED')).toBe(!served.includes('worker'))
          expect(withheld.includes('SPONSOR_PRIVATE_KEYS')).toBe(!served.includes('facilitator'))
        }
        expect(shares.every(({ roles: served }) => served.every((role) => roles.includes(role)))).toBe(true)
      }),
    )
  })

  it('starts one that fails again ever later, but within half a minute', () => {
    const waits = Array.from({ length: 40 }, (_, deaths) => restartAfterMs(deaths))
    expect(waits[0]).toBeLessThanOrEqual(1_000)
    expect(waits).toEqual(waits.toSorted((a, b) => a - b))
    expect(waits.at(-1)).toBe(30_000)
  })

  it('is refused without the settings that the processes share, and with an invalid number', () => {
    const fault = (environment: Record<string, string>) => () => readConfig(environment)
    expect(fault({ WORKERS: 'auto' })).toThrow('REDIS_URL must be set with WORKERS')
    expect(fault({ WORKERS: '0', REDIS_URL: 'redis://localhost' })).toThrow('WORKERS must be auto or a whole number')
    expect(fault({ WORKERS: 'many', REDIS_URL: 'redis://localhost' })).toThrow('WORKERS must be auto or a whole number')
    expect(readConfig({ WORKERS: 'auto', REDIS_URL: 'redis://localhost' }).WORKERS).toBe('auto')
  })
})

function describeNothing(title: string): void {
  it(`${title}: not without redis-server`, () => {
    expect(hasRedis()).toBe(false)
  })
}

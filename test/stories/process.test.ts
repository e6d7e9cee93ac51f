import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { ServiceProcess } from '../harness/process.ts'

const run = promisify(execFile)

describe('the service as a process', () => {
  let database: TestDatabase
  let folder: string
  let environment: Record<string, string>
  const running: ServiceProcess[] = []

  beforeAll(async () => {
    database = await testDatabase()
    folder = mkdtempSync(path.join(tmpdir(), 'coinslot-process-'))
    environment = { DATABASE_URL: database.url, DATA_DIR: folder, LOG_LEVEL: 'info', PORT: String(await freePort()) }
  })
  afterEach(() => {
    for (const service of running.splice(0)) service.kill('SIGKILL')
  })
  afterAll(async () => {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })

  function start(settings: Readonly<Record<string, string>>): ServiceProcess {
    const service = new ServiceProcess(settings)
    running.push(service)
    return service
  }

  test('greets with lines that work, and drains on SIGTERM', async () => {
    const service = start({ ...environment, DRAIN_MS: '1500' })
    const output = await service.waitFor(GREETED)
    const lines = output.split('\n').filter((line) => line.trim().startsWith('curl'))
    expect(lines).toHaveLength(4)
    const answers = []
    for (const line of lines) answers.push(JSON.parse((await run('bash', ['-c', line])).stdout) as unknown)
    expect(answers).toEqual([
      expect.objectContaining({ environment: 'sandbox' }),
      { deposited: true, amount: 25, transactionHash: null, newBalance: 25 },
      { wallet: expect.objectContaining({ balance: 25 }) },
      expect.objectContaining({ success: true, cost: 0.005 }),
    ])
    service.kill('SIGTERM')
    // Load balancers notice the shutdown while the process still serves.
    const load = (of: string) => fetch(`http://localhost:${environment['PORT'] ?? ''}${of}`)
    const readiness = async () => {
      const answer = await load('/readyz')
      return `${String(answer.status)} ${((await answer.json()) as { status: string }).status}`
    }
    while ((await readiness()) !== '503 draining') await setImmediate()
    expect((await load('/tools')).status).toBe(200)
    expect(await service.ended()).toBe(0)
    // The key is never in a log line.
    const key = /csk_test_\w+/.exec(output)?.[0] ?? 'none'
    expect(service.output.split('\n').filter((line) => line.startsWith('{') && line.includes(key))).toEqual([])
  })

  test('shows the key once, and takes a fixed one at a later start', async () => {
    const key = `csk_test_${'f'.repeat(43)}`
    const service = start({ ...environment, DEMO_API_KEY: key })
    const output = await service.waitFor(GREETED)
    expect(output).toContain(`Bearer ${key}`)
    const { status } = await fetch(`http://localhost:${environment['PORT'] ?? ''}/v1/me`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(status).toBe(200)
    service.kill('SIGINT')
    expect(await service.ended()).toBe(0)
    const again = start(environment)
    expect(await again.waitFor(GREETED)).toContain('shown at the first start')
    again.kill('SIGTERM')
    expect(await again.ended()).toBe(0)
  })

  test('reports a port in use in one sentence', async () => {
    const other = createServer().listen(0)
    const port = String((other.address() as AddressInfo).port)
    const service = start({ ...environment, PORT: port, LOG_LEVEL: 'silent' })
    expect(await service.ended()).toBe(1)
    expect(service.output).toBe(`Port ${port} is already taken: stop what listens there, or set PORT to another one.\n`)
    other.close()
  })

  test('reports every configuration fault in a line, and does not start', async () => {
    const service = start({
      PORT: 'many',
      LIVE: 'yes',
      ROLES: 'api,cook',
      DATABASE_URL: 'mysql://x',
      SIGNUP_CREDITS: '0.0000001',
      OIDC_ISSUER: 'https://issuer.example',
    })
    expect(await service.ended()).toBe(1)
    const lines = service.output.trim().split('\n')
    expect(lines[0]).toBe('Coinslot cannot start:')
    expect(
      lines
        .slice(1)
        .map((line) => line.trim().split(' ')[0])
        .sort(),
    ).toEqual(['DATABASE_URL', 'LIVE', 'PORT', 'ROLES', 'SIGNUP_CREDITS'].sort())
  })

  test('a live server wants its secrets', async () => {
    const service = start({ ...environment, LIVE: 'true', DEMO_API_KEY: `csk_test_${'f'.repeat(43)}` })
    expect(await service.ended()).toBe(1)
    for (const name of ['AUTH_SECRET', 'VAULT_KEY', 'DEMO_API_KEY']) expect(service.output).toContain(name)
  })
})

/** The last of the three example lines. */
const GREETED = /curl[^\n]*wallet\/balance[^\n]*\n/

/**
 * A port whose next port is free too: the demo's creators run there. It is outside the range of ports for outgoing
 * connections, where another process could take the next port a moment later.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + randomInt(20_000)
    if ((await isFree(port)) && (await isFree(port + 1))) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch {
    return false
  }
  await new Promise((resolve) => server.close(resolve))
  return true
}

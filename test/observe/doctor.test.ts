import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import express from 'express'
import pg from 'pg'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { privateKeyToAddress } from 'viem/accounts'
import { checkAddresses } from '../../service/cli/checks/addresses.ts'
import { checkChains } from '../../service/cli/checks/chain.ts'
import { checkDatabase } from '../../service/cli/checks/database.ts'
import { runChecks } from '../../service/cli/checks/all.ts'
import { checkMachine } from '../../service/cli/checks/machine.ts'
import type { Check, Finding } from '../../service/cli/checks/model.ts'
import { checkSelling } from '../../service/cli/checks/selling.ts'
import { checkRedis } from '../../service/cli/checks/redis.ts'
import { withCatalogue } from '../../service/cli/catalogue/open.ts'
import { withDatabase } from '../../service/cli/command/run.ts'
import { readConfig } from '../../service/config.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { healthRouter } from '../../service/api/health.ts'
import { Metrics } from '../../service/api/metrics.ts'
import { openRequest } from '../../service/api/requests.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { parseKeyring } from '../../service/vault/keyring.ts'
import { Secret } from '../../service/vault/secret.ts'
import { vaultOf } from '../../service/vault/vault.ts'
import { startAnvil, type Anvil } from '../harness/anvil.ts'
import { emptyDatabase, testDatabase, type TestDatabase } from '../harness/database.ts'
import { hasRedis, startRedis } from '../queue/redis.ts'

const LIVE = {
  LIVE: 'true',
  AUTH_SECRET: randomBytes(32).toString('base64'),
  VAULT_KEY: `k1:${randomBytes(32).toString('base64')}`,
}

async function look(by: Check, environment: Record<string, string>, aheadMs = 0): Promise<readonly Finding[]> {
  return await by({ config: readConfig(environment), now: () => Date.now() + aheadMs })
}

function faultsOf(findings: readonly Finding[]): Record<string, string> {
  return Object.fromEntries(findings.filter(({ level }) => level === 'fault').map(({ check, says }) => [check, says]))
}

describe('npm run doctor', () => {
  test('warns of what a live server still needs before it sells, and of nothing in a sandbox', async () => {
    expect(await look(checkSelling, {})).toEqual([])
    const database = await testDatabase()
    const bare = await look(checkSelling, { ...LIVE, ALLOW_HOSTS: 'billing.internal' })
    expect(Object.fromEntries(bare.map(({ check, level }) => [check, level]))).toEqual({
      models: 'warning',
      'wallet keys': 'fault',
      'payer keys': 'warning',
      ALLOW_HOSTS: 'warning',
    })
    const all = await look(checkDatabase, { ...LIVE, DATABASE_URL: database.url })
    expect(all.find(({ check }) => check === 'catalogue')?.says).toContain('npm run tools -- import github')
    const models = { MODELS_BASE_URL: 'https://models.example/v1', MODELS_FILE: '/nowhere.json' }
    expect(faultsOf(await look(checkSelling, { ...LIVE, ...models }))['models']).toContain('/nowhere.json')
    await database.close()
  })

  test('warns of another facilitator for gates whose reports cannot be checked', async () => {
    const gates = async (environment: Record<string, string>) =>
      (await look(checkSelling, environment)).find(({ check }) => check === 'gates')
    const GATE_FACILITATOR_URL = 'https://facilitator.example'
    expect(await gates({ BASE_SEPOLIA_RPC_URLS: 'https://rpc.example' })).toBeUndefined()
    expect(await gates({ GATE_FACILITATOR_URL })).toMatchObject({
      level: 'warning',
      says: expect.stringContaining('without BASE_SEPOLIA_RPC_URLS'),
    })
    const half = { ...LIVE, GATE_FACILITATOR_URL, BASE_SEPOLIA_RPC_URLS: 'https://rpc.example' }
    expect(await gates(half)).toMatchObject({
      level: 'warning',
      says: expect.stringContaining('without BASE_RPC_URLS:'),
    })
    expect(await gates({ ...half, BASE_RPC_URLS: 'https://rpc.example' })).toMatchObject({ level: 'ok' })
  })

  test('finds no fault in a sound sandbox, and changes nothing', async () => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'coinslot-doctor-'))
    const embedded = await startEmbedded({ dataDir })
    await migrate(embedded.url)
    const { code, output } = await doctor({ DATA_DIR: dataDir, PORT: '9' }, '--json')
    const { ok, findings } = JSON.parse(output) as { ok: boolean; findings: Finding[] }
    expect(faultsOf(findings)).toEqual({})
    expect([code, ok]).toEqual([0, true])
    expect(findings.find(({ check }) => check === 'database durability')?.level).toBe('ok')
    await embedded.stop()
    rmSync(dataDir, { recursive: true })
  })

  test('exits with 1 and the list of faults, without a secret in it', async () => {
    const DATABASE_URL = 'postgres://me:open-sesame@127.0.0.1:9/none'
    const { code, output } = await doctor({ DATABASE_URL, REDIS_URL: 'redis://:open-sesame@127.0.0.1:9' })
    expect(code).toBe(1)
    expect(output).toMatch(/^FAULT {4}database: The database cannot be reached: .*Check DATABASE_URL/m)
    expect(output).toMatch(/^FAULT {4}redis: Redis cannot be reached: .*Check REDIS_URL/m)
    expect(output).not.toContain('open-sesame')
  })

  test('lists all faults of unreadable settings', async () => {
    const { findings } = await runChecks(() => readConfig({ PORT: 'no', ROLES: 'king', LIVE: 'true' }))
    expect(findings.map(({ says }) => says)).toEqual([
      expect.stringContaining('PORT must be a whole number'),
      expect.stringContaining('ROLES must list some of'),
      'AUTH_SECRET must be set when LIVE is true.',
      'VAULT_KEY must be set when LIVE is true.',
    ])
  })
})

test.each(['DATABASE_URL', 'REDIS_URL', 'SMTP_URL'])('a %s with a % that is not encoded is one fault', async (name) => {
  const scheme = { DATABASE_URL: 'postgres', REDIS_URL: 'redis', SMTP_URL: 'smtp' }[name] ?? ''
  const { findings } = await runChecks(() =>
    readConfig({ MAIL_FROM: 'pay@example.com', [name]: `${scheme}://me:50%off@host.example/x` }),
  )
  expect(findings.map(({ says }) => says)).toEqual([`${name} has a % that is not encoded: write it as %25.`])
})

describe('the database', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.close())

  it('has backups as old as the newest of however many files there are', async () => {
    const BACKUP_DIR = mkdtempSync(path.join(tmpdir(), 'coinslot-dumps-'))
    writeFileSync(path.join(BACKUP_DIR, 'newest'), 'dump')
    // It is listed and not there, as a file that is removed meanwhile.
    symlinkSync(path.join(BACKUP_DIR, 'removed'), path.join(BACKUP_DIR, 'listed'))
    for (let count = 0; count < 12_000; count++) {
      const file = path.join(BACKUP_DIR, `dump-${String(count)}`)
      writeFileSync(file, 'dump')
      utimesSync(file, 0, 0)
    }
    const findings = await look(checkDatabase, { DATABASE_URL: database.url, BACKUP_DIR })
    expect(findings.find(({ check }) => check === 'backups')).toMatchObject({ level: 'ok' })
    rmSync(BACKUP_DIR, { recursive: true })
  })

  it('with weak durability, too few connections or a wrong clock is a fault', async () => {
    const findings = await look(checkDatabase, { DATABASE_URL: database.url, DATABASE_POOL: '500' }, 7_000)
    expect(faultsOf(findings)).toEqual({
      // The tests' own server, which is quick and forgets.
      'database durability': expect.stringMatching(/^fsync, full_page_writes, synchronous_commit is off/),
      'database connections': expect.stringMatching(/^Only \d+ of 200 connections are free/),
      'database clock': expect.stringMatching(/^Is [67]\.\d s off/),
    })
    expect(faultsOf(await look(checkDatabase, { DATABASE_URL: database.url }))).toEqual({
      'database durability': expect.any(String),
    })
  })

  it('of a newer version is a fault, and a warning where its operator goes back', async () => {
    const { url, drop } = await emptyDatabase()
    await migrate(url)
    const pool = new pg.Pool({ connectionString: url })
    await pool.query(
      "INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name) VALUES ('newer', '', now(), '99990101000000_newer')",
    )
    await pool.end()
    const levelOf = async (settings: Record<string, string>) =>
      (await look(checkDatabase, { DATABASE_URL: url, ...settings })).find(
        ({ check }) => check === 'database migrations',
      )
    const says = expect.stringContaining('99990101000000_newer')
    expect(await levelOf({})).toMatchObject({ level: 'fault', says })
    expect(await levelOf({ NEWER_DATABASE: 'allowed' })).toMatchObject({ level: 'warning', says })
    // Commands refuse it as processes do, whether they bring the tables up to date or not.
    const commands = [withDatabase, withCatalogue] as const
    for (const run of commands) {
      const own = { DATABASE_URL: url, VAULT_KEY: LIVE.VAULT_KEY }
      const as = (settings: object) => run(readConfig({ ...own, ...settings }), () => Promise.resolve('done'))
      await expect(as({})).rejects.toMatchObject({ code: 'migration_unknown' })
      expect(await as({ NEWER_DATABASE: 'allowed' })).toBe('done')
    }
    await drop()
  })

  it('without our tables is a fault', async () => {
    const { url, drop } = await emptyDatabase()
    const findings = await look(checkDatabase, { DATABASE_URL: url })
    expect(faultsOf(findings)).toMatchObject({ 'database migrations': expect.stringContaining('npm run migrate') })
    await drop()
  })

  it('with secrets sealed by another key is a fault', async () => {
    const [ours, theirs] = [LIVE.VAULT_KEY, `k1:${randomBytes(32).toString('base64')}`]
    const sealed = vaultOf(parseKeyring(ours)).seal(new Secret('it'), 'usr_1/sandbox/signingSecret')
    await database.pool.query(
      `INSERT INTO identity_user (id, issuer, subject, created_at) VALUES ('usr_1', 'test', 'doctor', now())`,
    )
    await database.pool.query(
      `INSERT INTO identity_signing_secret (user_id, environment, sealed, made_by, created_at) VALUES ('usr_1', 'sandbox', $1, 'op_1', now())`,
      [sealed],
    )
    const vault = async (VAULT_KEY: string, more = {}) =>
      (await look(checkDatabase, { DATABASE_URL: database.url, VAULT_KEY, ...more })).filter(
        ({ check }) => check === 'vault',
      )
    expect(await vault(ours)).toEqual([{ check: 'vault', level: 'ok', says: '1 stored secrets were opened.' }])
    expect(await vault(theirs)).toMatchObject([{ level: 'fault' }])
    const next = `k2:${randomBytes(32).toString('base64')}`
    expect(await vault(next)).toMatchObject([{ level: 'fault', says: expect.stringContaining('"k1"') }])
    expect(await vault(next, { VAULT_OLD_KEYS: ours })).toMatchObject([{ level: 'ok' }, { level: 'warning' }])
  })
})

test('reports a missing Redis, and one that evicts keys', async () => {
  expect(faultsOf(await look(checkRedis, { REDIS_URL: 'redis://127.0.0.1:9' }))).toEqual({
    redis: expect.any(String),
  })
  if (!hasRedis()) return
  const server = await startRedis()
  expect(faultsOf(await look(checkRedis, { REDIS_URL: server.url }))).toEqual({})
  const client = new Redis(server.url)
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
  expect(faultsOf(await look(checkRedis, { REDIS_URL: server.url }, 10_000))).toEqual({
    'redis eviction': expect.stringContaining('allkeys-lru'),
    'redis clock': expect.stringContaining("off this machine's"),
  })
  client.disconnect()
  await server.close()
})

describe('the chain', () => {
  let base: Anvil
  let ahead: Anvil
  let other: Anvil
  beforeAll(async () => {
    ;[base, ahead, other] = await Promise.all([
      startAnvil({ chainId: 8453, mining: 'manual' }),
      startAnvil({ chainId: 8453, mining: 'manual' }),
      startAnvil({ chainId: 1, mining: 'manual' }),
    ])
  })
  afterAll(() => Promise.all([base, ahead, other].map((anvil) => anvil.stop())))

  const RICH = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
  const RICH_ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
  const POOR = `0x${'17'.repeat(32)}` as const

  it('with an unreachable RPC, another chain or a sponsor without money is a fault', async () => {
    await base.request({ method: 'anvil_setBalance', params: [RICH_ADDRESS, '0xde0b6b3a7640000'] })
    const findings = await look(checkChains, {
      BASE_RPC_URLS: base.url,
      SPONSOR_PRIVATE_KEYS: `${RICH},${POOR}`,
    })
    expect(faultsOf(findings)).toEqual({ 'gas base': expect.stringContaining('it cannot pay for gas') })
    expect(findings).toContainEqual({ check: 'gas base', level: 'ok', says: expect.stringMatching(/has \d+\.\d+ ETH/) })
    expect(faultsOf(await look(checkChains, { BASE_RPC_URLS: other.url }))).toEqual({
      'chain base': expect.stringContaining('is chain 1, and base is 8453'),
    })
    expect(faultsOf(await look(checkChains, { BASE_RPC_URLS: 'http://127.0.0.1:9/with-a-long-secret-key' }))).toEqual({
      'chain base': expect.not.stringContaining('with-a-long-secret-key'),
    })
  })

  it('is looked at with the sponsors of other processes, which a worker knows by their addresses', async () => {
    const worker = { ...LIVE, ROLES: 'worker', BASE_RPC_URLS: base.url }
    expect(faultsOf(await look(checkChains, worker))).toMatchObject({
      'gas base': expect.stringContaining('SPONSOR_ADDRESSES'),
    })
    const poor = privateKeyToAddress(POOR)
    expect(faultsOf(await look(checkChains, { ...worker, SPONSOR_ADDRESSES: poor }))).toEqual({
      'gas base': expect.stringContaining('it cannot pay for gas'),
    })
  })

  it('that stands still, or whose RPCs are far apart, is a fault', async () => {
    expect(faultsOf(await look(checkChains, { BASE_RPC_URLS: base.url }, 3_600_000))).toEqual({
      'chain base': expect.stringContaining('the node is stuck'),
    })
    await ahead.request({ method: 'anvil_mine', params: ['0x20'] })
    expect(faultsOf(await look(checkChains, { BASE_RPC_URLS: `${base.url},${ahead.url}` }))).toEqual({
      'chain base': expect.stringContaining('32 blocks apart'),
    })
  })
})

test('our addresses have to answer with our own health', async () => {
  const ours = express()
  ours.use(openRequest(systemClock, pino({ level: 'silent' }), new Metrics()))
  const health = {
    draining: () => false,
    loading: () => Promise.resolve(null),
    database: () => Promise.resolve(true),
    parts: () => Promise.resolve({}),
  }
  ours.use(healthRouter(health, new Metrics(), { metricsToken: undefined, live: false }))
  const [we, they] = await Promise.all(
    [ours, express().get('/healthz', (_request, response) => void response.json({ status: 'ok' }))].map(listening),
  )
  const all = (origin: string) => ({
    ...{ PUBLIC_API_URL: `${origin}/v1`, PUBLIC_TOOLS_URL: `${origin}/tools`, PUBLIC_GATE_URL: `${origin}/gate` },
    ...{ PUBLIC_FACILITATOR_URL: `${origin}/f`, PUBLIC_PAY_URL: `${origin}/p`, PUBLIC_DASHBOARD_URL: origin },
  })
  expect(faultsOf(await look(checkAddresses, all(we!.origin)))).toEqual({})
  expect(faultsOf(await look(checkAddresses, { ...all(we!.origin), PUBLIC_API_URL: `${they!.origin}/v1` }))).toEqual({
    [`address ${they!.origin}`]: expect.stringContaining('Another service answers'),
  })
  const live = faultsOf(await look(checkAddresses, { ...LIVE, ...all(we!.origin) }))
  expect(live).toMatchObject({ 'address api': expect.stringContaining('real money needs https') })
  we!.close()
  they!.close()
})

test('warns of a sandbox that calls private addresses and is reached from elsewhere', async () => {
  const warned = async (environment: Record<string, string>) =>
    (await look(checkMachine, environment)).some(({ check }) => check === 'ALLOW_PRIVATE_CALLBACKS')
  expect(await warned({})).toBe(true)
  expect(await warned({ ALLOW_PRIVATE_CALLBACKS: 'false' })).toBe(false)
  for (const HOST of ['127.0.0.1', 'localhost', '::1']) expect(await warned({ HOST })).toBe(false)
  const isPublic = { PUBLIC_DASHBOARD_URL: 'https://pay.example.com' }
  expect(await warned(isPublic)).toBe(false)
  expect(await warned({ ...isPublic, HOST: '127.0.0.1', ALLOW_PRIVATE_CALLBACKS: 'true' })).toBe(true)
  expect(await warned({ ...LIVE, ALLOW_PRIVATE_CALLBACKS: 'true' })).toBe(true)
})

test('warns of secrets that several machines must share, and of a weak one', async () => {
  const plain = await look(checkMachine, { ...LIVE, AUTH_SECRET: 'x'.repeat(40) })
  expect(faultsOf(plain)).toEqual({ AUTH_SECRET: expect.stringContaining('too easy to guess') })
  const alone = await look(checkMachine, { DATABASE_URL: 'postgres://db.example/x' })
  expect(alone.find(({ check }) => check === 'AUTH_SECRET')).toMatchObject({ level: 'warning' })
  expect(alone.map(({ check }) => check)).toEqual(expect.arrayContaining(['disk']))
})

async function doctor(
  environment: Record<string, string>,
  ...args: string[]
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['service/dist/cli/doctor.js', ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

async function listening(app: ReturnType<typeof express>): Promise<{ origin: string; close(): void }> {
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, close: () => server.close() }
}

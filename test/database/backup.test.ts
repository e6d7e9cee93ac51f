import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../harness/ports.ts'
import { ServiceProcess } from '../harness/process.ts'

const run = promisify(execFile)

/** Debian's server and its tools, which have one version: a dump is made by tools of at least the server's version. */
const TOOLS = existsSync('/usr/lib/postgresql')
  ? readdirSync('/usr/lib/postgresql')
      .map((version) => path.join('/usr/lib/postgresql', version, 'bin'))
      .filter((folder) =>
        ['initdb', 'pg_ctl', 'pg_dump', 'pg_restore'].every((name) => existsSync(path.join(folder, name))),
      )
      .at(-1)
  : undefined
/** Without the tools it says so and passes, on a developer's machine; where the whole has to be proven, it fails. */
function withTools(title: string, suite: (tools: string) => void): void {
  if (TOOLS !== undefined) {
    describe(title, () => suite(TOOLS))
    return
  }
  const lack = 'PostgreSQL is not installed in /usr/lib/postgresql: backups are not tested.'
  process.stderr.write(`${lack}\n`)
  test(title, () => {
    if (process.env['CI'] !== undefined && process.env['CI'] !== '') throw new Error(lack)
  })
}

withTools('a backup by pg_dump, as docs/going-live.md describes it', (tools) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-backup-'))
  const keys = mkdtempSync(path.join(tmpdir(), 'coinslot-backup-keys-'))
  const key = `csk_test_${'b'.repeat(43)}`
  const running: ServiceProcess[] = []
  const received = new Set<string>()
  let port: number
  let hook: Server
  let answers = false

  beforeAll(async () => {
    port = await freePort()
    if (process.getuid?.() === 0) {
      await run('chown', ['postgres', folder])
      chmodSync(folder, 0o755)
    }
    await tool('initdb', ['--pgdata', `${folder}/data`, '--username', 'coinslot', '--auth', 'trust', '--no-sync'])
    const options = `-p ${String(port)} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`
    await tool('pg_ctl', ['--pgdata', `${folder}/data`, '--log', `${folder}/log`, '-o', options, '-w', 'start'])
    for (const name of ['before', 'after']) {
      await tool('createdb', ['-h', '127.0.0.1', '-p', String(port), '-U', 'coinslot', name])
    }
    hook = createServer((request, response) => {
      request.resume()
      // Until the restore the workflow gives no answer, so the deliveries are under way.
      if (!answers) return
      received.add(String(request.headers['webhook-id']))
      hook.emit('received')
      response.end()
    }).listen(0, '127.0.0.1')
    await once(hook, 'listening')
  })
  afterAll(async () => {
    for (const service of running) service.kill('SIGKILL')
    hook.closeAllConnections()
    hook.close()
    await tool('pg_ctl', ['--pgdata', `${folder}/data`, '-m', 'immediate', '-w', 'stop'])
    for (const one of [folder, keys]) rmSync(one, { recursive: true, force: true })
  })

  /** The server refuses to run as root. */
  async function tool(name: string, words: string[]): Promise<void> {
    const isRoot = process.getuid?.() === 0
    const command = isRoot ? 'runuser' : path.join(tools, name)
    const all = isRoot ? ['-u', 'postgres', '--', path.join(tools, name), ...words] : words
    await run(command, all, { cwd: folder })
  }

  const databaseAt = (name: string): string => `postgresql://coinslot@127.0.0.1:${String(port)}/${name}`

  function settingsOf(database: string, servicePort: string): Record<string, string> {
    return {
      DATABASE_URL: databaseAt(database),
      // The stored secrets of the sandbox are not in the database, as those of a live server are not.
      DATA_DIR: keys,
      PORT: servicePort,
      DEMO_API_KEY: key,
      RATE_API_PER_MINUTE: '0',
    }
  }

  async function start(database: string) {
    const servicePort = String(await freePort())
    const service = new ServiceProcess(settingsOf(database, servicePort))
    running.push(service)
    await service.waitFor(/http:\/\/localhost:\d+/)
    const address = `http://localhost:${servicePort}`
    while (!(await fetch(`${address}/readyz`).catch(() => null))?.ok) await new Promise(setImmediate)
    const call = async (method: string, at: string, body?: object) => {
      const response = await fetch(address + at, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${at}: ${text}`)
      return JSON.parse(text) as unknown
    }
    return { service, call }
  }

  async function inRestored<T extends pg.QueryResultRow>(statement: string): Promise<T[]> {
    const client = new pg.Client({ connectionString: databaseAt('after') })
    await client.connect()
    try {
      return (await client.query<T>(statement)).rows
    } finally {
      await client.end()
    }
  }

  async function undelivered(): Promise<number> {
    const statement = 'SELECT count(*)::int AS count FROM delivery WHERE delivered_at IS NULL'
    return (await inRestored<{ count: number }>(statement))[0]?.count ?? 0
  }

  const command = (name: string, words: string[], database: string) =>
    run(process.execPath, ['service/launch/cli.mjs', name, ...words], {
      env: { PATH: process.env['PATH'] ?? '', ...settingsOf(database, '4020') },
    })

  test('a backup taken under load is complete, and work in progress ends correctly after a restore', async () => {
    const { service, call } = await start('before')
    await call('POST', '/v1/wallet/deposit', { amount: 25 })
    const { port: hookPort } = hook.address() as AddressInfo
    const { checkout } = (await call('POST', '/v1/checkouts', {
      callbackUrl: `http://127.0.0.1:${String(hookPort)}/flow`,
      product: { name: 'SEO audit' },
      price: 5,
      network: 'base-sepolia',
      testMode: true,
    })) as { checkout: { id: string } }
    const inputs = { topic: 'Why small teams ship faster', audience: 'practitioners' }
    for (let sold = 0; sold < 3; sold++) {
      await call('POST', `/v1/checkouts/${checkout.id}/test-payment`, { input: {} })
      await call('POST', '/v1/run', { rdaSlug: 'blog-outline', inputs, async: true })
    }
    const file = path.join(folder, 'coinslot.dump')
    await tool('pg_dump', ['--format=custom', `--file=${file}`, databaseAt('before')])
    service.kill('SIGKILL')
    await service.ended()
    await tool('pg_restore', ['--no-owner', `--dbname=${databaseAt('after')}`, file])

    expect((await command('ledger', ['check'], 'after')).stdout).toContain('the ledger is sound')
    // Otherwise the test shows nothing: the dump has deliveries that are not done.
    expect(await undelivered()).toBe(3)

    // A real restore takes longer than the leases of the process that was killed.
    await inRestored('UPDATE lease SET until = now()')
    answers = true
    const restored = await start('after')
    while (received.size < 3) await once(hook, 'received')
    const states = async () => {
      const { runs } = (await restored.call('GET', '/v1/runs')) as { runs: { status: string; cost: number }[] }
      return runs
    }
    while ((await states()).some(({ status }) => !['succeeded', 'failed', 'canceled'].includes(status))) {
      await new Promise(setImmediate)
    }
    const runs = await states()
    // One whose process was killed fails, and costs nothing.
    expect(runs).toHaveLength(3)
    for (const { status } of runs) expect(['succeeded', 'failed']).toContain(status)
    const { payments } = (await restored.call('GET', '/v1/payments?product=checkout')) as {
      payments: { state: string }[]
    }
    expect(payments.map(({ state }) => state)).toEqual(['paid', 'paid', 'paid'])
    const { wallet } = (await restored.call('GET', '/v1/wallet/balance')) as {
      wallet: { balance: number; totalLocked: number; totalSpent: number }
    }
    expect(wallet.totalLocked).toBe(0)
    const cost = runs.filter(({ status }) => status === 'succeeded').reduce((sum, run) => sum + run.cost, 0)
    expect(wallet.totalSpent).toBeCloseTo(cost, 6)
    expect(wallet.balance).toBeCloseTo(25 - cost, 6)
    expect((await command('ledger', ['check'], 'after')).stdout).toContain('the ledger is sound')
  })
})

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { request } from 'undici'
import type { Role } from '../../service/config.ts'
import type { Mining } from '../harness/anvil.ts'
import { startChain, type TestChain } from '../harness/chain.ts'
import { ServiceProcess } from '../harness/process.ts'
import { startRedis, type RedisServer } from '../queue/redis.ts'
import { walletKeys } from '../wallet/world.ts'
import { freePort } from '../harness/ports.ts'
import { startPostgres, type PostgresServer } from './postgres.ts'
import { startProxy } from './proxy.ts'

/** Coinslot as many processes, each like a machine of its own with a folder of its own, behind one address. */
export interface Topology {
  /** The proxy's address: it serves every surface by its path. */
  readonly origin: string
  readonly processes: readonly Member[]
  /** Null where the one process starts its own. */
  readonly database: PostgresServer | null
  readonly redis: RedisServer | null
  readonly chain: TestChain | null
  /** The settings of every process, before those of its roles; for tools that work beside them. */
  readonly settings: Readonly<Record<string, string>>
  /** Resolves when all of them report that they are ready. */
  ready(): Promise<void>
  close(): Promise<void>
}

export interface Member {
  readonly name: string
  readonly url: string
  readonly roles: readonly Role[]
  readonly settings: Readonly<Record<string, string>>
  pid(): number | null
  isReady(): boolean
  /** The output of its current run so far. */
  output(): string
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
  /** Restarts it, once the last run has ended; resolves when it reports that it is ready. */
  begin(): Promise<void>
}

export interface TopologyOptions {
  processes: readonly { roles: readonly Role[]; count: number; settings?: Readonly<Record<string, string>> }[]
  /** `server`: one PostgreSQL for all. `embedded`: the process's own, which then is the only process. */
  database: 'embedded' | 'server'
  redis: boolean
  /** `base` is the network of real money, for LIVE; true is base-sepolia. */
  chain: boolean | 'base'
  /** Seconds between blocks, or another mode; by default a block for each transaction. */
  mining?: Mining
  /** Override the topology's own settings. */
  settings?: Readonly<Record<string, string>>
  /** Where the processes reach the chain, if not at the chain itself. */
  rpc?: (chainUrl: string) => Promise<string>
  postgres?: Readonly<Record<string, string>>
}

export async function startTopology(options: TopologyOptions): Promise<Topology> {
  const count = options.processes.reduce((sum, group) => sum + group.count, 0)
  if (options.database === 'embedded' && count > 1)
    throw new Error('an embedded database belongs to one process: several share a server')
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-system-'))
  const [database, redis, chain, proxy] = await Promise.all([
    options.database === 'server' ? startPostgres(options.postgres) : null,
    options.redis ? startRedis() : null,
    options.chain === false
      ? null
      : startChain({
          ...(options.chain === 'base' ? { chainId: 8453 } : {}),
          ...(options.mining === undefined ? {} : { mining: options.mining }),
        }),
    startProxy(),
  ])
  await chain?.mine(10)
  const rpcUrl = chain === null ? null : ((await options.rpc?.(chain.url)) ?? chain.url)
  const { WALLET_XPUB, WALLET_XPRV } = await walletKeys()
  const settings: Record<string, string> = {
    AUTH_SECRET: randomBytes(32).toString('hex'),
    VAULT_KEY: `system:${randomBytes(32).toString('base64')}`,
    WALLET_XPUB,
    HOST: '127.0.0.1',
    DATABASE_POOL: '8',
    DEMO_PORT: '0',
    LOG_LEVEL: 'warn',
    ...(database === null ? {} : { DATABASE_URL: database.url }),
    ...(redis === null ? {} : { REDIS_URL: redis.url }),
    ...(chain === null || rpcUrl === null
      ? {}
      : { [chain.network.name === 'base' ? 'BASE_RPC_URLS' : 'BASE_SEPOLIA_RPC_URLS']: rpcUrl }),
    PUBLIC_API_URL: `${proxy.origin}/v1`,
    PUBLIC_TOOLS_URL: `${proxy.origin}/tools`,
    PUBLIC_FACILITATOR_URL: `${proxy.origin}/facilitator`,
    PUBLIC_PAY_URL: `${proxy.origin}/p`,
    PUBLIC_GATE_URL: `${proxy.origin}/gate`,
    PUBLIC_DASHBOARD_URL: proxy.origin,
    TRUST_PROXY: 'loopback',
    // Sellers learn the escrow's operator by it, since only facilitators have its key.
    ...(chain === null ? {} : { SPONSOR_ADDRESSES: chain.accounts[0]?.address ?? '' }),
    ...options.settings,
  }
  const secrets: Partial<Record<Role, Record<string, string>>> = {
    worker: { WALLET_XPRV, PAYER_SEED: randomBytes(32).toString('hex') },
    ...(chain === null ? {} : { facilitator: { SPONSOR_PRIVATE_KEYS: chain.accounts[0]?.privateKey ?? '' } }),
  }
  const members: OwnMember[] = []
  const counts = new Map<string, number>()
  for (const group of options.processes) {
    for (let each = 0; each < group.count; each++) {
      const kind = group.roles.length === 7 ? 'all' : (group.roles[0] ?? 'none')
      const place = (counts.get(kind) ?? 0) + 1
      counts.set(kind, place)
      const name = `${kind}-${String(place)}`
      const port = await freePort()
      members.push(
        createMember(name, port, group.roles, {
          ...settings,
          ...Object.fromEntries(group.roles.flatMap((role) => Object.entries(secrets[role] ?? {}))),
          ...group.settings,
          PORT: String(port),
          ROLES: group.roles.join(','),
          DATA_DIR: path.join(folder, name),
        }),
      )
    }
  }
  // Interrupting the tests must not leave processes running.
  const hurry = (): void => {
    for (const member of members) member.drop()
  }
  process.once('exit', hurry)
  proxy.serve(members.map((member) => ({ url: member.url, roles: member.roles, ready: member.isReady })))
  const topology: Topology = {
    origin: proxy.origin,
    processes: members,
    database,
    redis,
    chain,
    settings,
    ready: async () => {
      await Promise.all(members.map((member) => member.becameReady()))
    },
    async close() {
      process.off('exit', hurry)
      await Promise.all(members.map((member) => member.end()))
      await Promise.all([proxy.close(), database?.close(), redis?.close(), chain?.stop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    // All at once, as after a power cut: the first one creates the tables.
    await Promise.all(members.map((member) => member.begin()))
  } catch (error) {
    await topology.close()
    throw error
  }
  return topology
}

interface OwnMember extends Member {
  becameReady(): Promise<void>
  end(): Promise<void>
  drop(): void
}

function createMember(
  name: string,
  port: number,
  roles: readonly Role[],
  settings: Readonly<Record<string, string>>,
): OwnMember {
  const url = `http://127.0.0.1:${String(port)}`
  let life: ServiceProcess | null = null
  let ready = false
  let over = false
  let looking: Promise<void> | null = null

  /** Checks as a load balancer does: repeatedly, and trusts only its latest check. */
  async function look(): Promise<void> {
    while (!over) {
      ready = life !== null && (await answers(url))
      await wait(LOOK_MS)
    }
  }

  const member: OwnMember = {
    name,
    url,
    roles,
    settings,
    pid: () => life?.pid ?? null,
    isReady: () => ready,
    output: () => life?.output ?? '',
    async kill(signal) {
      const dying = life
      if (dying === null) return null
      dying.kill(signal)
      const code = await dying.ended()
      if (life === dying) life = null
      ready = false
      return code
    },
    async begin() {
      if (life !== null) throw new Error(`${name} lives`)
      looking ??= look()
      life = new ServiceProcess(settings)
      await member.becameReady()
    },
    async becameReady() {
      const deadline = Date.now() + START_MS
      while (!ready) {
        if (life === null) throw new Error(`${name} does not live`)
        if (life.hasEnded) throw new Error(`${name} ended and said:\n${life.output}`)
        if (Date.now() > deadline) throw new Error(`${name} is not ready and said:\n${life.output.slice(-4_000)}`)
        await wait(LOOK_MS / 2)
      }
    },
    drop() {
      life?.kill('SIGKILL')
    },
    async end() {
      over = true
      await Promise.all([member.kill('SIGTERM'), looking])
    },
  }
  return member
}

async function answers(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/readyz`, { headersTimeout: 3_000, bodyTimeout: 3_000 })
    await body.dump()
    return statusCode === 200
  } catch {
    return false
  }
}

const LOOK_MS = 200
/** Eight processes on a busy machine compile their sources at once. */
const START_MS = 120_000

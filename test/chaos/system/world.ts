import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import type { Hex } from '../../../service/chain/model.ts'
import { compose, type Service } from '../../../service/wiring/compose.ts'
import { readConfig } from '../../../service/config.ts'
import { newId } from '../../../service/kit/ids.ts'
import type { TestAccount, TestChain } from '../../harness/chain.ts'
import { startTopology, type Topology } from '../../system/topology.ts'
import { send } from '../../wallet/world.ts'
import { call } from './call.ts'
import { makeGoods, type Goods } from './goods.ts'
import { startRpc, type Rpc } from './rpc.ts'
import { Echo, Receiver, Seller, Sink } from './strangers.ts'

/** A live Coinslot of several processes, its chain, and all its users and sellers. */
export interface World {
  topology: Topology
  chain: TestChain
  rpc: Rpc
  /** The test's own service on the same database, which never starts its workers: it prepares and inspects. */
  control: Service
  receiver: Receiver
  echo: Echo
  seller: Seller
  /** The seller of everything. */
  owner: Person
  buyers: readonly Person[]
  /** The buyers' agents, each with a lifetime limit. */
  agents: readonly { key: string; id: string; limit: bigint }[]
  payers: readonly TestAccount[]
  /** The USDC that each payer had in the beginning. */
  purse: bigint
  recipient: Hex
  goods: Goods
  thief: Thief
  /** Sells answers, and refunds programs without asking. Without money, so that no refund is paid. */
  generous: Person
  /** Pays sellers outside whose payments are looked at through a node that lags behind. */
  lagging: Person
  close(): Promise<void>
}

/** A thief with an account, some money, and an asset whose server never responds. */
export interface Thief extends Person {
  payers: readonly TestAccount[]
  /** The address to which it withdraws from its own wallets. */
  pocket: Hex
  sink: Sink
  hanging: string
}

export interface Person {
  userId: string
  key: string
  deposit: Hex
}

/** `more`: further settings of the processes, for example a loader that adds a hole. */
export async function openWorld(more: Readonly<Record<string, string>> = {}): Promise<World> {
  let rpc: Rpc | null = null
  const topology = await startTopology({
    processes: [
      { roles: ['api', 'tools', 'pay', 'gate', 'dashboard'], count: 2 },
      { roles: ['worker'], count: 2 },
      { roles: ['facilitator'], count: 2 },
    ],
    database: 'server',
    redis: true,
    chain: 'base',
    mining: 1,
    rpc: async (url) => (rpc = await startRpc(url)).url,
    settings: { ...SETTINGS, ...more },
  })
  const { chain } = topology
  if (chain === null || rpc === null) throw new Error('there is no chain')
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-control-'))
  const control = await openControl(topology, chain, folder)
  const [receiver, echo, sink] = [await new Receiver().listen(), await new Echo().listen(), await new Sink().listen()]
  const recipient: Hex = '0x00000000000000000000000000000000000000c1'
  const seller = await new Seller(chain.network, recipient, `${topology.origin}/facilitator`).listen()

  const names = ['owner', 'thief', 'generous', 'lagging', 'a', 'b', 'c', 'd']
  const people = await Promise.all(names.map((name) => signUp(control, name)))
  const [owner, robber, generous, lagging, ...buyers] = people as [Person, Person, Person, Person, ...Person[]]
  const payers = await Promise.all(Array.from({ length: 40 }, () => chain.payer(PURSE)))
  const thieves = await Promise.all(Array.from({ length: 40 }, () => chain.payer(PURSE)))
  await send(
    chain,
    [robber, lagging, ...buyers].map(({ deposit }) => ({ to: deposit, value: FIRST_DEPOSIT })),
  )
  // Deeper than any reorganisation that follows.
  await chain.mine(10)
  for (const buyer of [robber, lagging, ...buyers]) await hasMoney(topology.origin, buyer)
  const goods = await makeGoods({ origin: topology.origin, control, owner, generous, receiver, echo, recipient })
  await knowTool(topology, goods.tool)
  const agents = await Promise.all(buyers.slice(0, 2).map((buyer) => hireAgent(topology.origin, buyer)))
  const thief: Thief = {
    ...robber,
    payers: thieves,
    pocket: '0x00000000000000000000000000000000000000c3',
    sink,
    hanging: await makeHanging(topology.origin, robber, sink),
  }
  return {
    topology,
    chain,
    rpc,
    control,
    receiver,
    echo,
    seller,
    owner,
    buyers,
    agents,
    payers,
    purse: PURSE,
    recipient,
    goods,
    thief,
    generous,
    lagging,
    async close() {
      await Promise.all([receiver, echo, sink, seller].map((one) => one.close()))
      await control.stop()
      await topology.close()
      await rpc?.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const PURSE = 1_000_000_000n
// Enough for twenty minutes: a buyer without money gets a refusal, which is not a final response.
const FIRST_DEPOSIT = 20_000_000_000n

/** The limit of one account per day. */
export const OUTFLOW_LIMIT = 2_000_000_000n

/** Runs that cost more are outflows of the account that pays. */
export const PURCHASES_ABOVE = 1_000_000n

const SETTINGS = {
  PURCHASES_COUNTED_ABOVE: String(PURCHASES_ABOVE / 1_000_000n),
  LIVE: 'true',
  ALLOW_PRIVATE_CALLBACKS: 'true',
  ALLOW_HOSTS: '127.0.0.1',
  RATE_API_PER_MINUTE: '1000000',
  RATE_PAY_PER_MINUTE: '1000000',
  RATE_TOOLS_PER_MINUTE: '1000000',
  RATE_GATE_PER_MINUTE: '1000000',
  RATE_VERIFY_PER_MINUTE: '1000000',
  RATE_SETTLE_PER_MINUTE: '1000000',
  GAS_BUDGET_PER_DAY: '0',
  GAS_BUDGET_PER_PAYER_DAY: '0',
  GAS_BUDGET_PER_RECIPIENT_DAY: '0',
  QUOTA_CONNECTIONS_PER_ADDRESS: '0',
  SETTLE_WAIT_MS: '8000',
  PAY_TIMEOUT_MS: '20000',
  TOOL_TIMEOUT_MS: '5000',
  GATE_HEADERS_TIMEOUT_MS: '5000',
  // More than honest accounts ever withdraw, less than the thief tries to.
  WITHDRAWAL_LIMIT_PER_DAY: String(OUTFLOW_LIMIT / 1_000_000n),
  WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '0',
  WITHDRAWAL_MINIMUM: '0.01',
  // As many as can end while the system settles.
  RUNS_WAITING: '20',
  WITHDRAWALS_PER_DAY: '0',
}

/** Connects directly to the chain, past the faulty provider. */
async function openControl(topology: Topology, chain: TestChain, folder: string): Promise<Service> {
  const config = readConfig({
    ...topology.settings,
    BASE_RPC_URLS: chain.url,
    REDIS_URL: '',
    ROLES: 'api',
    PORT: '0',
    DATA_DIR: folder,
    DATABASE_POOL: '4',
  })
  return await compose(config, { url: topology.database?.url ?? '', log: pino({ level: 'silent' }) })
}

async function signUp(control: Service, name: string): Promise<Person> {
  const { user } = await control.identity.signUp({
    issuer: 'coinslot',
    subject: `chaos-${name}`,
    name,
    email: `${name}@example.com`,
    emailConfirmed: true,
  })
  const caller = {
    user,
    subject: user.subject,
    issuer: user.issuer,
    environment: 'production' as const,
    via: 'session' as const,
    keyId: null,
    agentId: null,
  }
  const operation = newId('op', new Date())
  const { secret } = await control.identity.keys.create(
    caller,
    { name: 'k', agentId: null, expiresAt: null },
    operation,
  )
  const deposit = await control.wallets.depositAddress({ userId: user.id, environment: 'production' })
  if (deposit === null) throw new Error('no deposit address')
  return { userId: user.id, key: secret, deposit: deposit.toLowerCase() as Hex }
}

/** Credited by the workers' monitor: the deposit was not reported. */
async function hasMoney(origin: string, { key }: Person): Promise<void> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const { wallet } = await call(origin, key, 'GET', '/v1/wallet/balance')
    if (wallet.balance > 0) return
    if (Date.now() > deadline) throw new Error('the first deposits are not seen')
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

/** Each process reads the shared catalogue itself, a moment after it has changed. */
async function knowTool({ processes }: Topology, slug: string): Promise<void> {
  const serving = processes.filter(({ roles }) => roles.includes('tools'))
  const deadline = Date.now() + 60_000
  for (const { name, url } of serving) {
    while ((await fetch(`${url}/tools/${slug}`)).status !== 200) {
      if (Date.now() > deadline) throw new Error(`${name} does not know the tool ${slug}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

async function makeHanging(origin: string, { key }: Person, sink: Sink): Promise<string> {
  await call(origin, key, 'POST', '/v1/rda', {
    ...{ slug: 'chaos-hanging', name: 'Hanging', description: 'Never answers', type: 'agent' },
    inputSchema: [{ name: 'topic', label: 'Topic', type: 'text', required: true }],
    agentConfig: { webhookUrl: `${sink.origin}/agent`, basePrice: 0.01, timeoutSeconds: 3, maxRetries: 0 },
  })
  await call(origin, key, 'POST', '/v1/rda/chaos-hanging/publish')
  return 'chaos-hanging'
}

async function hireAgent(origin: string, { key }: Person): Promise<World['agents'][number]> {
  const limit = 1.5
  const { agent } = await call(origin, key, 'POST', '/v1/agents', { name: 'Agent', limits: { lifetime: limit } })
  const created = await call(origin, key, 'POST', '/v1/keys', { name: 'agent', agentId: agent.id })
  return { key: created.secret, id: agent.id, limit: BigInt(limit * 1_000_000) }
}

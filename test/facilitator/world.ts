import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import type { Hex, SignedAuthorization } from '../../service/chain/model.ts'
import { compose, type Service } from '../../service/wiring/compose.ts'
import { readConfig } from '../../service/config.ts'
import { listen } from '../../service/api/server.ts'
import { NO_FAILPOINTS, type Failpoints } from '../../service/kit/failpoints.ts'
import { startChain, type TestAccount, type TestChain } from '../harness/chain.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

/** One chain and one database, and as many processes' worth of service as a test wants. */
export interface World {
  chain: TestChain
  database: TestDatabase
  clock: TestClock
  services: readonly Instance[]
  /** The first of them. */
  service: Instance
  seller: Hex
  payer: TestAccount
  add(options?: InstanceOptions): Promise<Instance>
  close(): Promise<void>
}

export interface Instance extends Service {
  origin: string
  post(path: '/verify' | '/settle', body: unknown, headers?: Record<string, string>): Promise<Answer>
  get(path: string): Promise<Answer>
  close(): Promise<void>
}

export interface Answer {
  status: number
  headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into answers field by field
  body: any
}

export interface InstanceOptions {
  environment?: Record<string, string>
  failpoints?: Failpoints
  /** Whether it signs: true unless a test ends processes by hand. */
  writes?: boolean
}

export async function openWorld(
  options: InstanceOptions & { services?: number; chain?: Parameters<typeof startChain>[0] } = {},
): Promise<World> {
  const [chain, database] = await Promise.all([startChain(options.chain), testDatabase({ poolMax: 4 })])
  const clock = new TestClock()
  const instances: Instance[] = []
  const add = async (more: InstanceOptions = options): Promise<Instance> => {
    const instance = await openInstance(chain, database, clock, more)
    instances.push(instance)
    return instance
  }
  for (let count = 0; count < (options.services ?? 1); count++) await add()
  return {
    chain,
    database,
    clock,
    services: instances,
    service: instances[0]!,
    seller: chain.accounts[3]!.address,
    payer: await chain.payer(1_000_000_000n),
    add,
    async close() {
      for (const instance of instances) await instance.close()
      await database.close()
      await chain.stop()
    },
  }
}

async function openInstance(
  chain: TestChain,
  database: TestDatabase,
  clock: TestClock,
  { environment = {}, failpoints = NO_FAILPOINTS, writes = true }: InstanceOptions,
): Promise<Instance> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coinslot-facilitator-'))
  const config = readConfig({ ...settings(chain, database.url, dataDir), ...environment })
  const log = pino({ level: process.env['TEST_LOG'] ?? 'silent' })
  const service = await compose(config, { url: database.url, log, clock, failpoints })
  const server = await listen(service.app, 0, '127.0.0.1')
  const origin = `http://127.0.0.1:${String(server.port)}/facilitator`
  if (writes) service.facilitator.start()
  let closing: Promise<void> | null = null
  return {
    ...service,
    origin,
    post: (where, body, headers = {}) =>
      fetchJson(origin + where, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (where) => fetchJson(origin + where, {}),
    close: () =>
      (closing ??= (async () => {
        await server.drain(1_000)
        await service.stop()
        rmSync(dataDir, { recursive: true, force: true })
      })()),
  }
}

function settings(chain: TestChain, url: string, dataDir: string): Record<string, string> {
  const rpc = chain.network.name === 'base' ? 'BASE_RPC_URLS' : 'BASE_SEPOLIA_RPC_URLS'
  return {
    DATA_DIR: dataDir,
    DATABASE_URL: url,
    DATABASE_POOL: '8',
    PORT: '0',
    LOG_LEVEL: 'silent',
    [rpc]: chain.url,
    SPONSOR_PRIVATE_KEYS: chain.accounts[0]!.privateKey,
    RATE_VERIFY_PER_MINUTE: '0',
    RATE_SETTLE_PER_MINUTE: '0',
    GAS_BUDGET_PER_DAY: '0',
    GAS_BUDGET_PER_PAYER_DAY: '0',
  }
}

async function fetchJson(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, init)
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: JSON.parse(text) as unknown }
}

export interface Terms {
  scheme?: string
  network?: string
  payTo?: string
  asset?: string
  amount?: string
  extra?: unknown
}

/** A request as the stock clients send it: the authorization, and terms that fit it unless a test says otherwise. */
export function request(
  chain: TestChain,
  version: 1 | 2,
  signed: SignedAuthorization,
  required: Terms = {},
  offered: Terms = required,
) {
  const { signature, ...authorization } = signed
  const payload = {
    signature,
    authorization: {
      ...authorization,
      value: String(signed.value),
      validAfter: String(signed.validAfter),
      validBefore: String(signed.validBefore),
    },
  }
  const usdc = chain.network.usdc
  const network = version === 1 ? chain.network.name : chain.network.caip2
  const { amount = String(signed.value), ...terms } = required
  const all = {
    scheme: 'exact',
    network,
    payTo: signed.to,
    asset: usdc.checksummed,
    maxTimeoutSeconds: 60,
    extra: { name: usdc.name, version: usdc.version },
    ...terms,
  }
  const chosen = { scheme: offered.scheme ?? 'exact', network: offered.network ?? network }
  return version === 1
    ? {
        x402Version: 1,
        paymentPayload: { x402Version: 1, ...chosen, payload },
        paymentRequirements: {
          ...all,
          maxAmountRequired: amount,
          resource: 'https://seller.example/paid',
          description: 'A page',
          mimeType: 'application/json',
        },
      }
    : {
        x402Version: 2,
        paymentPayload: {
          x402Version: 2,
          resource: { url: 'https://seller.example/paid', description: 'A page', mimeType: 'application/json' },
          accepted: { ...all, ...chosen, amount },
          payload,
        },
        paymentRequirements: { ...all, amount },
      }
}

export { until } from '../harness/until.ts'

/** How many transactions of this sender are in blocks. */
export async function sentBy(chain: TestChain, address: Hex): Promise<number> {
  return Number(await chain.call('eth_getTransactionCount', address, 'latest'))
}

/** USDC of an account, from the chain. */
export async function usdcOf(chain: TestChain, address: Hex): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`
  return BigInt((await chain.call('eth_call', { to: chain.network.usdc.address, data }, 'latest')) as string)
}

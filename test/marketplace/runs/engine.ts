import type { Caller } from '../../../service/kit/caller.ts'
import { systemClock, type Clock } from '../../../service/kit/clock.ts'
import { newId, type Id } from '../../../service/kit/ids.ts'
import { usdc, ZERO, type Usdc } from '../../../service/kit/money.ts'
import type { StatementPool } from '../../../service/kit/transaction.ts'
import { createLedger, type Ledger } from '../../../service/ledger/service.ts'
import { createLedgerStore } from '../../../service/ledger/store/ledger.ts'
import type { LanguageModel, Pricing, RunnableAsset } from '../../../service/marketplace/model/asset.ts'
import type { Executor, Throttle } from '../../../service/marketplace/ports/run.ts'
import { createRuns, type Runs } from '../../../service/marketplace/service/runs/runs.ts'
import { createRunStore } from '../../../service/marketplace/store/runs/runs.ts'
import { HEARTBEAT } from '../../../service/marketplace/store/runs/open.ts'
import { createThrottle } from '../../../service/marketplace/store/runs/throttle.ts'
import { createLease } from '../../../service/queue/sweepers.ts'
import { createOutbox } from '../../../service/queue/outbox.ts'

/*
 * Runs on a database, with executors in the process: what is left is the money and the rows. Assets come out of the
 * hand; everything that is written is written by the service's own stores.
 */
export interface Engine {
  runs: Runs
  ledger: Ledger
}

export function createEngine(statements: StatementPool, options: EngineOptions): Engine {
  const { executor, asset, clock = systemClock } = options
  const ledger = createLedger(createLedgerStore(statements, clock), clock)
  const outbox = createOutbox(clock)
  const silent = { info: () => undefined, warn: () => undefined, error: options.onError ?? (() => undefined) }
  const runs = createRuns({
    store: createRunStore(statements),
    assets: {
      forRun: (identifier) => Promise.resolve(asset(identifier)),
      own: (_caller, identifier) => Promise.resolve(asset(identifier)),
      version: (id) => Promise.resolve(asset(id)),
      openSecrets: () => ({}),
    },
    models: {
      list: () => [],
      find: () => options.model ?? null,
      countTokens: () => Promise.resolve(0),
      complete: () => Promise.reject(new Error('there is no model')),
    },
    executors: { prompt: executor, agent: executor, tool: executor },
    throttle: options.throttle ?? createThrottle(statements, clock, null),
    ledger,
    guard: ledger,
    outflow: {
      countsPurchase: () => false,
      takePurchase: () => Promise.resolve(),
      giveBack: () => Promise.resolve(),
    },
    clock,
    log: silent,
    lease: (process) => createLease(statements, HEARTBEAT + process, process),
    checkAddress: () => Promise.resolve(),
    announce: (inside, announcements) => outbox.add(inside, announcements),
    reportEnds: () => Promise.resolve(),
    feeBps: options.feeBps ?? 0,
    freeRuns: { take: () => Promise.resolve(null), giveBack: () => Promise.resolve() },
    unpaidCosts: { reached: () => Promise.resolve(options.unpaidCosts ?? null), count: () => Promise.resolve() },
    reportFreeRuns: () => Promise.resolve(),
    waitingMax: options.waitingMax ?? 1_000,
  })
  return { runs, ledger }
}

interface EngineOptions {
  waitingMax?: number
  /** Which bound of unpaid model costs is reached; none where it is absent. */
  unpaidCosts?: { of: 'caller' | 'creator'; resetsAt: Date }
  executor: Executor
  asset: (identifier: string) => RunnableAsset
  clock?: Clock
  /** What prompts run on. */
  model?: LanguageModel
  feeBps?: number
  throttle?: Throttle
  onError?: (fields: Record<string, unknown>, text: string) => void
}

/** A tool that is not called by address; what executes it decides what it does. */
export function assetOf(
  id: string,
  ownerId: string,
  pricing: Pricing,
  rateLimitPerMinute: number | null = null,
): RunnableAsset {
  return {
    id: id as Id<'rda'>,
    environment: 'sandbox',
    slug: id.replaceAll('_', '-'),
    name: id,
    type: 'tool',
    status: 'published',
    version: '1.0.0',
    ownerId: ownerId as Id<'usr'>,
    content: {
      inputs: [],
      outputs: { type: 'text' },
      pricing,
      config: {
        type: 'tool',
        apiEndpoint: 'http://127.0.0.1:9/',
        apiMethod: 'POST',
        apiHeaders: { names: [], token: null },
        authType: 'none',
        authHeaderName: null,
        authSecrets: { names: [], token: null },
        requestTransform: null,
        responseTransform: null,
        rateLimitPerMinute,
        basePrice: null,
      },
    },
  }
}

export function perRun(amount: Usdc): Pricing {
  return amount === ZERO ? { model: 'free', amount } : { model: 'per-run', amount }
}

export function callerOf(userId: string): Caller {
  return {
    user: { id: userId as Id<'usr'>, issuer: 'test', subject: userId, name: null, email: null, emailConfirmed: false },
    subject: userId,
    issuer: 'test',
    environment: 'sandbox',
    via: 'session',
    keyId: null,
    agentId: null,
  }
}

export function askFor(identifier: string) {
  return { identifier, inputs: {}, modelId: null, maxCost: null, webhookUrl: null, background: false }
}

export function operation(): Id<'op'> {
  return newId('op', new Date())
}

/** A wallet with money in it. */
export async function fund(ledger: Ledger, userId: string, amount: bigint): Promise<void> {
  await ledger.openAccounts(userId)
  if (amount === 0n) return
  const id = `dep.${userId}`
  const owner = { userId, environment: 'sandbox' as const }
  await ledger.credit({ id, kind: 'deposit', owner, amount: usdc(amount), reference: null, act: id })
}

import type { Guard } from '../../../budgets/service/guard.ts'
import type { ChargeBatch } from '../../../charging/service.ts'
import { ownerOf, type Caller } from '../../../kit/caller.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { Log } from '../../../kit/log.ts'
import { ZERO } from '../../../kit/money.ts'
import type { Environment, Owner } from '../../../kit/owner.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { Ledger } from '../../../ledger/service.ts'
import type { Outflows } from '../../../outflow/service.ts'
import type { Announcement } from '../../../queue/model.ts'
import { unpaidCostsReached } from '../../errors.ts'
import type { AssetType, LanguageModel, RunnableAsset } from '../../model/asset.ts'
import type { UnpaidBy } from '../../model/run.ts'
import type { AssetsForRuns } from '../../ports/asset.ts'
import type {
  CallTurn,
  EndedRun,
  Executor,
  FreeRuns,
  Models,
  NewRun,
  ProcessLease,
  RunReader,
  RunStore,
  Throttle,
  UnpaidCosts,
} from '../../ports/run.ts'
import { rateLimitOf } from '../../rules/run.ts'

export interface RunsDeps {
  store: RunStore
  assets: AssetsForRuns
  models: Models
  executors: Readonly<Record<AssetType, Executor>>
  throttle: Throttle
  ledger: Ledger
  /** The way to the ledger for callers that may be agents: an agent's hold is taken within its limits. */
  guard: Pick<Guard, 'actTogether'>
  outflow: Pick<Outflows, 'countsPurchase' | 'takePurchase' | 'giveBack'>
  clock: Clock
  log: Log
  /** The lease that says that this process lives. */
  lease(process: string): ProcessLease
  /** For a webhook address of the caller: throws what is wrong with it. */
  checkAddress(url: string): Promise<void>
  announce(inside: Statements, announcements: readonly Announcement[]): Promise<void>
  /** Writes the webhooks and events of these ends, in their transaction. */
  reportEnds(inside: Statements, ended: readonly EndedRun[]): Promise<void>
  /** The platform's part of what is left to the creator, in hundredths of a percent. */
  feeBps: number
  /** How many background runs of an account may wait. */
  waitingMax: number
  freeRuns: FreeRuns
  unpaidCosts: UnpaidCosts
  /** Once a day: the creator's bound on free runs is reached, or that of one asset. */
  reportFreeRuns(creator: Owner, asset: Pick<RunnableAsset, 'id' | 'name'> | null, resetsAt: Date): Promise<void>
}

/** The holds and the rows of runs that begin and end. */
export type RunCharges = ChargeBatch<NewRun | EndedRun>

/** A person sees all runs of the account, an agent's key the runs that this agent asked for. */
export function readerOf(caller: Caller): RunReader {
  return { owner: ownerOf(caller), agentId: caller.agentId }
}

/** Throws while failed runs have cost more than the bound, so that no model is called. */
export async function assertUnpaidCosts(
  { unpaidCosts, clock }: Pick<RunsDeps, 'unpaidCosts' | 'clock'>,
  run: UnpaidBy,
  model: LanguageModel | null,
): Promise<void> {
  if (model === null || (model.inputPrice === ZERO && model.outputPrice === ZERO)) return
  const now = clock.now()
  const reached = await unpaidCosts.reached(run, now)
  if (reached !== null) throw unpaidCostsReached(reached.of, reached.resetsAt, now)
}

/** Counts a call of a tool in its minute; other assets have no limit. */
export async function takeCall(
  { throttle, log }: Pick<RunsDeps, 'throttle' | 'log'>,
  run: Pick<NewRun, 'id' | 'rdaId' | 'userId'>,
  asset: RunnableAsset,
): Promise<CallTurn> {
  const perMinute = rateLimitOf(asset)
  if (perMinute === null) return { giveBack: () => Promise.resolve() }
  const turn = await throttle.take(run, perMinute)
  if ('waitSeconds' in turn) return turn
  const warn = (err: unknown): void => log.warn({ runId: run.id, err }, 'a call of a tool could not be given back')
  return { giveBack: () => turn.giveBack().catch(warn) }
}

/** It takes its caller's turn, and occupies a place of the creator whose server does the work. */
export function announcementOf(run: Announced, dueAt?: Date): Announcement {
  const { id, environment, userId, ownerId } = run
  const turn = { account: `${environment}/${userId}`, target: `${environment}/${ownerId}` }
  return { topic: EXECUTE[environment], payload: { runId: id }, turn, ...(dueAt === undefined ? {} : { dueAt }) }
}

/** Each environment has its own places. */
export const EXECUTE = {
  production: 'marketplace.execute',
  sandbox: 'marketplace.execute.sandbox',
} as const satisfies Record<Environment, string>

type Announced = Pick<NewRun, 'id' | 'environment' | 'userId' | 'ownerId'>

import type { Usdc } from '../../kit/money.ts'
import type { Departure } from '../../kit/departure.ts'
import type { Id } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Environment, Owner } from '../../kit/owner.ts'
import type { OutboundRequest, OutboundResponse } from '../../outbound/model.ts'
import type { LanguageModel, RunnableAsset, Usage } from '../model/asset.ts'
import type {
  Buyers,
  CustomerRun,
  Ending,
  FreeRunsBound,
  Run,
  RunState,
  RunSummary,
  UnpaidBound,
  UnpaidBy,
} from '../model/run.ts'

export interface RunStore {
  /**
   * In the transaction of their holds: rows of runs that begin, and the ends of others. Answers those that it
   * wrote; a run that was there, or had ended, is not among them.
   */
  write(inside: Statements, begun: readonly NewRun[], ended: readonly EndedRun[]): Promise<ReadonlySet<string>>
  /**
   * In the transaction of a guest's payment: the run that it pays for has cost this much. False where the run has not
   * succeeded, or was charged before.
   */
  charge(inside: Statements, id: Id<'run'>, amount: Usdc): Promise<boolean>
  find(id: Id<'run'>): Promise<Run | null>
  findOf(reader: RunReader, id: Id<'run'>): Promise<Run | null>
  list(reader: RunReader, filter: RunFilter): Promise<{ runs: readonly RunSummary[]; total: number }>
  /** What others ran of one asset: for its creator alone. */
  listOfCustomers(
    creator: Owner,
    rda: Id<'rda'>,
    filter: Omit<RunFilter, 'rda'>,
  ): Promise<{ runs: readonly CustomerRun[]; total: number }>
  /** Who paid for it among the newest `runs` paid runs of others: how many, and how many of them more than once. */
  buyersOf(creator: Owner, rda: Id<'rda'>, runs: number): Promise<Buyers>
  /** Of each day of UTC since then, how many there were in each state and what they cost; the oldest day first. */
  days(owner: Owner, since: Date): Promise<readonly RunDay[]>
  /**
   * From queued to running, once: a second worker finds nothing to claim, and the process that claimed it finds it again.
   * Null when another process has it or it has ended.
   */
  claim(id: Id<'run'>, process: string, now: Date): Promise<Run | null>
  /** Of these runs those that are running in the name of one of these processes. */
  runningOf(processes: readonly string[], ids: readonly Id<'run'>[]): Promise<readonly Run[]>
  /** From running back to queued, for another process; false when this process does not have it any more. */
  handOn(id: Id<'run'>, process: string): Promise<boolean>
  /** The same, together with what announces it again. */
  postpone(id: Id<'run'>, process: string, announce: (inside: Statements) => Promise<void>): Promise<boolean>
  /** How many background runs of an account wait; counted up to `most`. */
  waiting(owner: Owner, most: number): Promise<number>
  states(ids: readonly Id<'run'>[]): Promise<ReadonlyMap<Id<'run'>, RunState>>
  /** Open runs that are past their deadline or whose process is gone. */
  lost(now: Date, limit: number): Promise<readonly Run[]>
  /** Adds what ended runs left to their assets' statistics; answers for how many assets. */
  foldStats(): Promise<number>
}

export type NewRun = Omit<Run, 'cost' | 'usage' | 'output' | 'failure' | 'endedAt' | 'durationMs'> & {
  /** The caller agreed that the creator sees the inputs. */
  inputsShared: boolean
}

export interface EndedRun extends Ending {
  id: Id<'run'>
  /** As it was when it began. */
  run: NewRun | Run
  endedAt: Date
}

/** Who reads: an account sees all of its runs, an agent only those that it asked for. */
export interface RunReader {
  owner: Owner
  agentId: string | null
}

export interface RunFilter {
  state: RunState | null
  /** Slug or id. */
  rda: string | null
  limit: number
  offset: number
}

/** The models that prompts run on. In the sandbox there is only the one that needs no network. */
export interface Models {
  list(environment: Environment): readonly LanguageModel[]
  find(environment: Environment, id: string): LanguageModel | null
  /** Exact for the built-in model, close for others. */
  countTokens(text: string): Promise<number>
  /** Streams inside, so that an abort stops the vendor's work and its bill. */
  complete(request: CompletionRequest): Promise<Completion>
}

export interface CompletionRequest {
  model: LanguageModel
  system: string | null
  prompt: string
  signal: AbortSignal
  /** Called with what the vendor bills so far, also where no answer comes; with null where it bills nothing. */
  onBilled?(used: BilledUsage | null): void
}

export type BilledUsage = () => Promise<Usage>

export interface Completion {
  text: string
  usage: Usage
}

/** Runs creators' JSONata expressions, within limits of time, memory and size; creators take turns. */
export interface Transforms {
  /** Throws a DomainError that says what is wrong with the expression or its result. */
  apply(expression: string, input: unknown, by: TransformUse): Promise<unknown>
  /** Throws where `apply` would not run the expression now, because it has run past its time too often. */
  assertPatience(expression: string, by: TransformUse): void
  /** Why this expression is not taken, or null: it does not compile, or it does not end. */
  check(expression: string, of: Owner, sample?: unknown): Promise<string | null>
}

/** The creator, who owns the expression, and the buyer's account, whose input it gets. */
export interface TransformUse extends Owner {
  buyer: string
  /** The buyer stands for all guests: one guest can pay from many wallets. */
  areGuests?: boolean
}

/** The guarded client for addresses of creators. */
export interface Callout {
  send(request: OutboundRequest): Promise<OutboundResponse>
}

/** The headers that prove to a creator's server who calls, in the name of that creator's account. */
export type Sign = (owner: Owner, id: string, body: string) => Promise<Readonly<Record<string, string>>>

/** Counts the calls of a tool in its present minute, over all processes. No caller gets more than half of them. */
export interface Throttle {
  take(call: ToolCall, perMinute: number): Promise<CallTurn>
}

/** How long there is no room; or how to give the call back that was not made after all, while its minute lasts. */
export type CallTurn = { readonly waitSeconds: number } | { giveBack(): Promise<void> }

/** Guests are one account here: they share one half, because a new wallet costs nothing. */
export interface ToolCall {
  rdaId: Id<'rda'>
  userId: string
}

/** Bounds what free prompts take of their creators' wallets in a day of UTC. */
export interface FreeRuns {
  /** Null when there was room; else which bound is used up, until when, and whether this is the first refusal. */
  take(run: FreeRun, now: Date): Promise<{ of: FreeRunsBound; resetsAt: Date; first: boolean } | null>
  /** For a run that was not begun after all. */
  giveBack(run: FreeRun, now: Date): Promise<void>
}

export interface FreeRun {
  creator: Owner
  caller: string
  /** An asset with its own bound is counted alone, not with the creator's others. */
  own: { rda: Id<'rda'>; perDay: number } | null
}

/**
 * Bounds what vendors bill for runs that nobody pays, in a day of UTC: of one caller, and of one creator's prompts. The
 * creator's bound refuses guests, and accounts with failed runs of their own: an account without them is served.
 */
export interface UnpaidCosts {
  /** Null while there is room; else which bound is reached, and until when. */
  reached(run: UnpaidBy, now: Date): Promise<{ of: UnpaidBound; resetsAt: Date } | null>
  /** In the transaction of the runs' ends. */
  count(inside: Statements, ended: readonly EndedRun[]): Promise<void>
}

/** A lease of one process only: while it is held, the process lives. */
export interface ProcessLease {
  take(now: Date, until: Date): Promise<boolean>
  release(): Promise<void>
}

/** Does the work of a run; throws `ExecutionFailed` where there is no output. */
export interface Executor {
  execute(work: Work, signal: AbortSignal): Promise<Executed>
}

export interface Work {
  runId: Id<'run'>
  /** The caller, as the identity provider knows them. */
  subject: string
  /** The caller's account. All guests have the same one. */
  payerId: string
  asset: RunnableAsset
  inputs: Readonly<Record<string, unknown>>
  /** Of a prompt. */
  model: LanguageModel | null
  /** Marked right before anything is sent: from then on the run cannot be canceled. */
  departure: Departure
  /** Of a prompt: what its vendor bills, also where the run fails. */
  onBilled(used: BilledUsage | null): void
}

export interface Executed {
  output: string
  usage: Usage | null
}

/** How receivers hear of a run's end: the caller's webhook, and endpoints that listen for events. */
export interface RunDeliveries {
  /** Of these accounts those that have an endpoint for one of the events. */
  listeners(
    inside: Statements,
    owners: readonly Owner[],
    events: readonly RunEvent['event'][],
  ): Promise<readonly Owner[]>
  event(inside: Statements, event: RunEvent & { id: Id<'evt'>; owner: Owner }): Promise<void>
  write(
    inside: Statements,
    delivery: { id: Id<'dlv'>; owner: Owner; subject: string; to: { url: string }; body: string },
  ): Promise<void>
}

export interface RunEvent {
  event: 'run.completed' | 'run.failed'
  data: Readonly<Record<string, unknown>>
}

export interface RunDay {
  day: string
  state: RunState
  runs: number
  cost: Usdc
}

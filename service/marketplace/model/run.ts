import type { ErrorCode } from '../../kit/error-codes/catalogue.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { AssetType, Pricing, Usage } from './asset.ts'

/**
 * `queued`: accepted, its money held, waits for a worker. `running`: a process executes it. The other three are
 * ends, written in the transaction that captured or released the hold.
 */
export const RUN_STATES = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const
export type RunState = (typeof RUN_STATES)[number]

/** What everybody who may see a run sees of it: what ran, how it ended and what it cost. */
export interface RunFigures {
  id: Id<'run'>
  rdaId: Id<'rda'>
  rdaSlug: string
  rdaVersion: string
  state: RunState
  /** What the caller was charged; 0 unless it succeeded. */
  cost: Usdc
  modelId: string | null
  usage: Usage | null
  failure: Failure | null
  createdAt: Date
  startedAt: Date | null
  endedAt: Date | null
  durationMs: number | null
}

export interface Run extends RunFigures {
  environment: Environment
  /** Who asked for it. */
  userId: string
  /** The same person as the identity provider knows them: `user_id` to a creator's agent. */
  subject: string
  /** Which of their agents asked; null for the person. */
  agentId: string | null
  rdaType: AssetType
  /** Whose asset it was. */
  ownerId: string
  /** Whose money is held: the caller's, or of a free prompt its creator's. */
  payerId: string
  /** What was held of the payer's. */
  locked: Usdc
  /** The most that the caller can be charged: that, or nothing. */
  price: Usdc
  inputs: Readonly<Record<string, unknown>>
  output: string | null
  webhookUrl: string | null
  /** The process that executes it; its lease says whether that lives. */
  process: string | null
  /** After it nothing is charged any more; the hold's own deadline. */
  deadline: Date
}

/** A run as its caller asks for it. */
export interface RunInput {
  /** Slug or id. */
  identifier: string
  inputs: Readonly<Record<string, unknown>>
  modelId: string | null
  maxCost: Usdc | null
  /** What a page showed its reader: the run starts at this price only. */
  statedPricing?: Pricing
  webhookUrl: string | null
  /** Queued for a worker; otherwise the caller waits for its end. */
  background: boolean
  /** Bought by a guest: this version, also where the asset has changed since. Nothing is held, its sale pays for it, or has paid. */
  sold?: { version: string; paid: boolean }
  /** The caller agrees that the creator sees the inputs, where the asset asks for that. */
  sharesInputs?: boolean
  /** The tool names under which it was called: an agent's list of tools applies to them too. */
  toolNames?: readonly string[]
}

/** What is used up where a free run is refused: of one caller, of all that the creator pays for, or of one asset. */
export type FreeRunsBound = 'caller' | 'day' | 'asset'

/** Whose unpaid model costs have reached their bound. */
export type UnpaidBound = 'caller' | 'creator'
/** Whom the model costs of an unpaid run count for. */
export type UnpaidBy = Pick<Run, 'environment' | 'userId' | 'subject' | 'ownerId'>

/** Why a run has no output: a word for programs, a sentence for a person. */
export interface Failure {
  code: ErrorCode
  sentence: string
  /** With the addresses of the creator's server, which buyers are not shown. Absent where it is the same. */
  forCreator?: string
}

/** What a list shows: a run without its inputs and its output. */
export type RunSummary = Omit<Run, 'inputs' | 'output'>

/** What a creator sees of another account's run: not who ran it, not its output, its inputs only where agreed. */
export interface CustomerRun extends RunFigures {
  inputsShared: boolean
  /** Null where they are not shared, or too long for a list. */
  inputs: Readonly<Record<string, unknown>> | null
}

/** How a run ended. */
export interface Ending {
  state: 'succeeded' | 'failed' | 'canceled'
  cost: Usdc
  usage: Usage | null
  output: string | null
  failure: Failure | null
  durationMs: number
  /** Whether it says something about its asset: a run that was never tried does not. */
  counts: boolean
  /** What the vendor bills for its model, whether or not anybody pays. */
  modelCost: Usdc
}

export function hasEnded(state: RunState): boolean {
  return state !== 'queued' && state !== 'running'
}

/** The buyers of an asset. */
export interface Buyers {
  buyers: number
  /** Those who paid more than once. */
  repeat: number
}

import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { AssetType } from './asset.ts'
import type { Usage } from './language-model.ts'

/**
 * `queued`: accepted, its money locked, waits for a worker. `running`: a process is at it. The other three are
 * ends, written in the transaction that captured or gave back the lock.
 */
export const RUN_STATES = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const
export type RunState = (typeof RUN_STATES)[number]

export interface Run {
  id: Id<'run'>
  environment: Environment
  /** Who asked for it. */
  userId: string
  /** The same person as the identity provider knows them: `user_id` to a creator's agent. */
  subject: string
  /** Which of their agents asked; null for the person. */
  agentId: string | null
  rdaId: Id<'rda'>
  rdaSlug: string
  rdaType: AssetType
  rdaVersion: string
  /** Whose asset it was. */
  ownerId: string
  /** Whose money is locked: the caller's, or of a free prompt its creator's. */
  payerId: string
  state: RunState
  /** What was locked of the payer's. */
  locked: Usdc
  /** The most that the caller can be charged: that, or nothing. */
  price: Usdc
  /** What the caller was charged; 0 unless it succeeded. */
  cost: Usdc
  modelId: string | null
  usage: Usage | null
  inputs: Readonly<Record<string, unknown>>
  output: string | null
  failure: Failure | null
  webhookUrl: string | null
  /** Which process is at it; its lease says whether that lives. */
  process: string | null
  /** After it nothing is charged any more; the lock's own deadline. */
  deadline: Date
  createdAt: Date
  startedAt: Date | null
  endedAt: Date | null
  durationMs: number | null
}

/** What a caller wants to have run. */
export interface RunAsk {
  /** Slug or id. */
  identifier: string
  inputs: Readonly<Record<string, unknown>>
  modelId: string | null
  maxCost: Usdc | null
  webhookUrl: string | null
  /** Queued for a worker; else whoever asks waits for its end. */
  waits: boolean
  /** Paid for before it runs: this version, at this price, whatever has become of the asset since. */
  paid?: { version: string; amount: Usdc }
  /** Who asks agrees that the creator sees the inputs, where the asset asks for that. */
  sharesInputs?: boolean
  /** Names of the tool that it was asked for as: an agent's list of tools holds for it too. */
  toolNames?: readonly string[]
}

/** What is used up where a free run is refused: of one caller, of all that the creator pays for, or of one asset. */
export type FreeRunsBound = 'caller' | 'day' | 'asset'

/** Why a run has no output: a word for programs, a sentence for a person. */
export interface Failure {
  code: string
  sentence: string
}

/** What a list shows: a run without what it was given and what came out. */
export type RunSummary = Omit<Run, 'inputs' | 'output'>

/**
 * What a creator sees of another account's run: that it ran, how it ended and what it cost. Who ran it and to which output
 * is the customer's, and so are the inputs unless they agreed to show them.
 */
export type CustomerRun = SharedInputs &
  Pick<
    RunSummary,
    | 'id'
    | 'rdaId'
    | 'rdaSlug'
    | 'rdaVersion'
    | 'state'
    | 'cost'
    | 'modelId'
    | 'usage'
    | 'failure'
    | 'createdAt'
    | 'startedAt'
    | 'endedAt'
    | 'durationMs'
  >

interface SharedInputs {
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
}

export function hasEnded(state: RunState): boolean {
  return state !== 'queued' && state !== 'running'
}

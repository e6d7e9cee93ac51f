import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../ledger/model.ts'
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
}

/** Why a run has no output: a word for programs, a sentence for a person. */
export interface Failure {
  code: string
  sentence: string
}

/** What a list shows: a run without what it was given and what came out. */
export type RunSummary = Omit<Run, 'inputs' | 'output'>

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

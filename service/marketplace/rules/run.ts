import type { RunnableAsset, ToolConfig } from '../model/asset.ts'
import type { Ending, Failure, Run, RunState } from '../model/run.ts'
import { ZERO, type Usdc } from '../../kit/money.ts'
import { GUESTS } from '../../ledger/model.ts'

/** How long an execution may take, retries and polls included. */
export function limitOf(asset: Pick<RunnableAsset, 'content'>): number {
  const { config } = asset.content
  switch (config.type) {
    case 'prompt':
      return PROMPT_MS
    case 'agent':
      return Math.min(config.timeoutSeconds * 1_000, AGENT_MS)
    case 'tool':
      return toolSecondsOf(config) * 1_000 + TRANSFORMS_MS
  }
}

/** How long a tool's API may take for its answer. */
export function toolSecondsOf({ timeoutSeconds = TOOL_SECONDS }: Pick<ToolConfig, 'timeoutSeconds'>): number {
  return timeoutSeconds
}

export const TOOL_SECONDS = 25

/** How many calls a minute the creator's server takes. Null: no limit. */
export function rateLimitOf({ content: { config } }: Pick<RunnableAsset, 'content'>): number | null {
  return config.type === 'tool' ? config.rateLimitPerMinute : null
}

const PROMPT_MS = 120_000
const AGENT_MS = 180_000
/** No execution of any asset may take longer. */
export const LIMIT_MS_MAX = AGENT_MS
const TRANSFORMS_MS = 5_000

/** When the money is released by itself: later than the execution can take, also when it waits for a worker. */
export function deadlineOf(limitMs: number, background: boolean, now: Date): Date {
  return new Date(now.getTime() + limitMs + MARGIN_MS + (background ? QUEUE_MS : 0))
}

const MARGIN_MS = 30_000
const QUEUE_MS = 15 * 60_000

/** Whether what is left until the deadline is enough for the whole of an execution. */
export function fitsBefore(deadline: Date, limitMs: number, now: Date): boolean {
  return deadline.getTime() - now.getTime() > limitMs
}

/** The most that this run moves from its caller's account to another one: nothing of a run of an own or free asset. */
export function purchaseOf({ payerId, ownerId, locked }: Pick<Run, 'payerId' | 'ownerId' | 'locked'>): Usdc {
  return payerId === ownerId || payerId === GUESTS ? ZERO : locked
}

/** An end that costs nothing. */
export function unpaid(state: 'failed' | 'canceled', failure: Failure, durationMs: number, counts: boolean): Ending {
  return { state, cost: ZERO, usage: null, output: null, failure, durationMs, counts, modelCost: ZERO }
}

/** How long it had been running; clocks of two processes may disagree. */
export function durationOf({ startedAt }: Pick<Run, 'startedAt'>, now: Date): number {
  return startedAt === null ? 0 : Math.max(0, now.getTime() - startedAt.getTime())
}

/** Replaces characters that databases and many programs cannot store as text. */
export function keepable(text: string): string {
  return text.replaceAll(/\0|\p{Surrogate}/gu, '\uFFFD')
}

/** The states that a run went through, oldest first. */
export function timelineOf(run: Run): { status: RunState; at: Date }[] {
  const timeline: { status: RunState; at: Date }[] = []
  // A run in the foreground begins at once and was never queued.
  if (run.startedAt === null || run.startedAt > run.createdAt) timeline.push({ status: 'queued', at: run.createdAt })
  if (run.startedAt !== null) timeline.push({ status: 'running', at: run.startedAt })
  if (run.endedAt !== null) timeline.push({ status: run.state, at: run.endedAt })
  return timeline
}

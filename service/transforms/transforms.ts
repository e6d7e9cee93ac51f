import type { ErrorCode } from '../kit/error-codes/catalogue.ts'
import { DomainError } from '../kit/errors.ts'
import type { Owner } from '../kit/owner.ts'
import type { Transforms } from '../marketplace/ports/run.ts'
import { createThreads } from '../kit/threads.ts'
import { startThread, type Job, type Result } from './worker.ts'

/** JSONata within limits. */
export function createTransforms(options: TransformsOptions = {}): Transforms & { close(): Promise<void> } {
  const limitMs = options.limitMs ?? LIMIT_MS
  const sizes = {
    startThread,
    threads: options.threads ?? THREADS,
    limitMs,
    perAccount: PER_ACCOUNT,
    waitingMax: options.waitingMax ?? WAITING_MAX,
  }
  /** Environments share no threads. */
  const pools = {
    production: createThreads<Evaluated>(sizes),
    sandbox: createThreads<Evaluated>(sizes),
  }
  const overran = new Map<string, { times: number; until: number }>()

  function assertPatience(expression: string): void {
    const before = overran.get(expression)
    if (before === undefined || before.times < PATIENCE) return
    if (before.until > performance.now()) throw tooLong()
    overran.delete(expression)
  }

  function remember(expression: string): void {
    if (overran.size >= REMEMBERED_MAX) overran.clear()
    const times = (overran.get(expression)?.times ?? 0) + 1
    overran.set(expression, { times, until: performance.now() + SILENCE_MS })
  }

  async function evaluate(expression: string, input: string | null, { environment, userId }: Owner) {
    const outcome = await pools[environment].run(
      { expression, input, resultMax: RESULT_MAX } satisfies Omit<Job, 'id'>,
      userId,
    )
    if (outcome === 'crowded') throw poolBusy()
    if (outcome === 'late') remember(expression)
    return outcome
  }

  return {
    async apply(expression, input, of) {
      assertPatience(expression)
      const text = JSON.stringify(input ?? null)
      if (text.length > INPUT_MAX) throw refused('transform_too_large', 'it was given too much')
      const outcome = await evaluate(expression, text, of)
      if (outcome === 'late') throw tooLong()
      if (outcome === 'crashed') throw refused('transform_too_large', 'it needed too much memory')
      if ('result' in outcome) return outcome.result === null ? undefined : (JSON.parse(outcome.result) as unknown)
      if (outcome.what === 'size') throw refused('transform_too_large', 'its result is too large')
      throw refused('transform_failed', outcome.fault)
    },

    async check(expression, of, sample) {
      if (expression.length > EXPRESSION_MAX) return `must have at most ${String(EXPRESSION_MAX)} characters`
      const compiled = await evaluate(expression, null, of)
      if (compiled === 'late' || compiled === 'crashed') return 'does not compile in time'
      if ('fault' in compiled) return `is not JSONata: ${compiled.fault}`
      const outcome = await evaluate(expression, JSON.stringify(sample ?? {}), of)
      if (outcome === 'late') return `does not end within ${String(limitMs)} ms`
      if (outcome === 'crashed') return 'needs too much memory'
      // What a sample lacks is no fault of the expression.
      return 'fault' in outcome && outcome.what === 'size' ? 'gives a result that is too large' : null
    },

    async close() {
      await Promise.all(Object.values(pools).map((threads) => threads.close()))
    },
  }
}

type Evaluated = Omit<Extract<Result, { result: unknown }>, 'id'> | Omit<Extract<Result, { fault: unknown }>, 'id'>

interface TransformsOptions {
  limitMs?: number
  threads?: number
  waitingMax?: number
}

function refused(code: ErrorCode, why: string): DomainError {
  return new DomainError('invalid', code, why.endsWith('.') ? why : `${why}.`)
}

function poolBusy(): DomainError {
  return new DomainError(
    'limited',
    'transforms_waiting',
    'Too many transforms of this account wait for their turn. Try again in a few seconds.',
    { retryAfterSeconds: 5 },
  )
}

function tooLong(): DomainError {
  return refused('transform_timeout', 'it took too long')
}

const LIMIT_MS = 500
const THREADS = 2
/** One thread at least is always free of any one account. */
const PER_ACCOUNT = 1
const WAITING_MAX = 200
const EXPRESSION_MAX = 10_000
const INPUT_MAX = 1_500_000
const RESULT_MAX = 1_048_576
const PATIENCE = 3
const SILENCE_MS = 60_000
const REMEMBERED_MAX = 10_000

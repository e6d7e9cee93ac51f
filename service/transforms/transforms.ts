import type { Clock } from '../kit/clock.ts'
import type { ErrorCode } from '../kit/error-codes/catalogue.ts'
import { DomainError } from '../kit/errors.ts'
import { canonicalHash } from '../kit/hash.ts'
import type { Owner } from '../kit/owner.ts'
import { Recent } from '../kit/recent.ts'
import type { Transforms, TransformUse } from '../marketplace/ports/run.ts'
import { createThreads, type Turn } from '../kit/threads.ts'
import { startThread, type Job, type Result } from './worker.ts'

/** JSONata within limits. */
export function createTransforms(options: TransformsOptions): Transforms & { close(): Promise<void> } {
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
  const overruns = createOverruns(options)

  async function evaluate(expression: string, input: string | null, { environment, userId }: Owner, turn: Turn = {}) {
    const job = { expression, input, resultMax: RESULT_MAX } satisfies Omit<Job, 'id'>
    const outcome = await pools[environment].run(job, userId, turn)
    if (outcome === 'crowded') throw poolBusy()
    return outcome
  }

  return {
    async apply(expression, input, by) {
      overruns.assertPatience(expression, by)
      const text = JSON.stringify(input ?? null)
      if (text.length > INPUT_MAX) throw refused('transform_too_large', 'it was given too much')
      // Those that came at the same moment have passed the check together, so it is made again when their turn comes.
      const outcome = await evaluate(expression, text, by, {
        isWanted: () => !overruns.isOver(expression, by),
        late: () => {
          overruns.count(expression, by)
        },
      })
      if (outcome === 'late' || outcome === 'unwanted') throw tooLong()
      if (outcome === 'crashed') throw refused('transform_too_large', 'it needed too much memory')
      if ('result' in outcome) return outcome.result === null ? undefined : (JSON.parse(outcome.result) as unknown)
      if (outcome.what === 'size') throw refused('transform_too_large', 'its result is too large')
      throw refused('transform_failed', outcome.fault)
    },

    assertPatience: (expression, by) => {
      overruns.assertPatience(expression, by)
    },

    async check(expression, of, sample) {
      if (expression.length > EXPRESSION_MAX) return `must have at most ${String(EXPRESSION_MAX)} characters`
      const compiled = await evaluate(expression, null, of)
      if (typeof compiled === 'string') return 'does not compile in time'
      if ('fault' in compiled) return `is not JSONata: ${compiled.fault}`
      const outcome = await evaluate(expression, JSON.stringify(sample ?? {}), of)
      if (outcome === 'late') return `does not end within ${String(limitMs)} ms`
      if (typeof outcome === 'string') return 'needs too much memory'
      // What a sample lacks is no fault of the expression.
      return 'fault' in outcome && outcome.what === 'size' ? 'gives a result that is too large' : null
    },

    async close() {
      await Promise.all(Object.values(pools).map((threads) => threads.close()))
    },
  }
}

type Evaluated = Omit<Extract<Result, { result: unknown }>, 'id'> | Omit<Extract<Result, { fault: unknown }>, 'id'>

/**
 * How often each creator's expression ran past its time in a minute: for one buyer, and for all. One buyer's input that
 * takes long ends the patience with that buyer only.
 */
function createOverruns({ clock, patience = PATIENCE }: TransformsOptions) {
  const counts = new Recent<string, { times: number }>(REMEMBERED_MAX, { clock, forMs: COUNTED_MS })

  function boundsOf(expression: string, { environment, userId, buyer, areGuests = false }: TransformUse) {
    const own = [environment, userId, expression]
    return [
      { key: hashOf(own), most: patience.ofAll },
      { key: hashOf([...own, buyer]), most: areGuests ? patience.ofGuests : patience.ofBuyer },
    ]
  }

  const isOver = (expression: string, by: TransformUse): boolean =>
    boundsOf(expression, by).some(({ key, most }) => (counts.get(key)?.times ?? 0) >= most)

  return {
    isOver,
    assertPatience(expression: string, by: TransformUse): void {
      if (isOver(expression, by)) throw tooLong()
    },
    count(expression: string, by: TransformUse): void {
      for (const { key } of boundsOf(expression, by)) {
        const known = counts.get(key)
        // The minute is that of the first one.
        if (known === undefined) counts.put(key, { times: 1 })
        else known.times++
      }
    },
  }
}

/** Short, because an expression may be long. */
function hashOf(parts: readonly string[]): string {
  return canonicalHash(parts).toString('base64url')
}

interface TransformsOptions {
  clock: Clock
  /** After how many overruns in a minute an expression is refused: to one buyer, to all guests, and to all. */
  patience?: { ofBuyer: number; ofGuests: number; ofAll: number }
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
/** One thread at least is always free of any one account. With more, as many runs could pass their time unseen by each other. */
const PER_ACCOUNT = 1
const WAITING_MAX = 200
const EXPRESSION_MAX = 10_000
const INPUT_MAX = 1_500_000
const RESULT_MAX = 1_048_576
/** As the turns are, a hundred take most of a minute. So few inputs of one payer cannot refuse it to all for long. */
const PATIENCE = { ofBuyer: 3, ofGuests: 30, ofAll: 100 }
const COUNTED_MS = 60_000
const REMEMBERED_MAX = 10_000

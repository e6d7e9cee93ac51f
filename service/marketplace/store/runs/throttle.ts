import type { Redis } from 'ioredis'
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { Batch } from '../../../kit/batch.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { CallTurn, Throttle, ToolCall } from '../../ports/run.ts'

/** Shared by all processes, through Redis or the database; never each one's own, for that would multiply a limit. */
export function createThrottle(statements: Statements, clock: Clock, redis: Redis | null): Throttle {
  const database = inTurns(inDatabase(statements, clock))
  if (redis === null) return database
  const shared = inTurns(inRedis(redis))
  return {
    async take(call, perMinute) {
      try {
        return await shared.take(call, perMinute)
      } catch {
        return await database.take(call, perMinute)
      }
    },
  }
}

/** A count for each name in its minute. */
interface Counts {
  take(name: string, perMinute: number): Promise<CallTurn>
}

/** The caller's own half first: beyond it a caller takes nothing of what the others share. */
function inTurns(counts: Counts): Throttle {
  const ownOf = ({ rdaId, userId }: ToolCall): string => `${rdaId} ${userId}`
  return {
    async take(call, perMinute) {
      const own = await counts.take(ownOf(call), Math.ceil(perMinute / 2))
      if ('waitSeconds' in own) return own
      const all = await counts.take(call.rdaId, perMinute)
      if ('waitSeconds' in all) {
        await own.giveBack()
        return all
      }
      return {
        async giveBack() {
          await own.giveBack()
          await all.giveBack()
        },
      }
    },
  }
}

function inRedis(redis: Redis): Counts {
  const limiters = new Map<number, RateLimiterRedis>()
  const limiterOf = (perMinute: number): RateLimiterRedis => {
    const limiter =
      limiters.get(perMinute) ??
      new RateLimiterRedis({
        storeClient: redis,
        keyPrefix: 'rda',
        points: perMinute,
        duration: WINDOW_MS / 1000,
        rejectIfRedisNotReady: true,
      })
    if (limiters.size < 1_000) limiters.set(perMinute, limiter)
    return limiter
  }
  return {
    async take(name, perMinute) {
      const limiter = limiterOf(perMinute)
      const before = performance.now()
      try {
        const { msBeforeNext } = await limiter.consume(name)
        return {
          async giveBack() {
            // The next minute's count is not this call's.
            if (performance.now() < before + msBeforeNext) await limiter.reward(name)
          },
        }
      } catch (reached) {
        if (!(reached instanceof RateLimiterRes)) throw reached
        // It counts refusals too: a call that is given back would then make no room.
        await limiter.reward(name)
        return { waitSeconds: Math.max(1, Math.ceil(reached.msBeforeNext / 1000)) }
      }
    },
  }
}

function inDatabase(statements: Statements, clock: Clock): Counts {
  const takes = new Batch<{ name: string; perMinute: number }, { since: Date } | { waitSeconds: number }>({
    largest: 1_000,
    run: takeAll,
  })

  /** All asks of the moment in one statement, a row for each name: who stands further back than there is room waits. */
  async function takeAll(asks: readonly { name: string; perMinute: number }[]) {
    const limits = new Map(asks.map(({ name, perMinute }) => [name, perMinute]))
    const names = [...limits.keys()].sort()
    const now = clock.now()
    const values = [
      names,
      names.map((name) => limits.get(name)),
      names.map((name) => asks.filter((ask) => ask.name === name).length),
      now,
      new Date(now.getTime() - WINDOW_MS),
    ]
    let rows = await statements.run<TakenRow>(TAKE, values, 'run_rate_take')
    if (rows.length < names.length) {
      // Names that were never counted before.
      await statements.run(OPEN, [names, values[4]], 'run_rate_open')
      const seen = new Set(rows.map(({ rda_id }) => rda_id))
      const unseen = names.map((name) => (seen.has(name) ? null : name))
      rows = [...rows, ...(await statements.run<TakenRow>(TAKE, [unseen, ...values.slice(1)], 'run_rate_take'))]
    }
    const left = new Map(rows.map((row) => [row.rda_id, { ...row }]))
    return asks.map(({ name }) => {
      const row = left.get(name)
      if (row === undefined) throw new Error('a tool has no call count')
      if (row.room-- > 0) return { since: row.since }
      // A process whose clock is behind may find a minute that begins in its future.
      const ms = Math.min(WINDOW_MS, row.since.getTime() + WINDOW_MS - now.getTime())
      return { waitSeconds: Math.max(1, Math.ceil(ms / 1000)) }
    })
  }

  return {
    async take(name, perMinute) {
      const turn = await takes.add({ name, perMinute })
      if ('waitSeconds' in turn) return turn
      return {
        async giveBack() {
          // Only of its own minute.
          const back = 'UPDATE run_rate SET used = used - 1 WHERE rda_id = $1 AND since = $2 AND used > 0'
          await statements.run(back, [name, turn.since], 'run_rate_back')
        },
      }
    },
  }
}

const WINDOW_MS = 60_000

interface TakenRow {
  rda_id: string
  since: Date
  room: number
}

const OPEN = `
INSERT INTO run_rate (rda_id, since, used) SELECT name, $2::timestamptz, 0 FROM unnest($1::text[]) AS name
ON CONFLICT (rda_id) DO NOTHING`

// `used` never passes the limit: what an ask gets is the difference, `room`. The rows are locked in the order of
// their names and read as they are then.
const TAKE = `
WITH ask AS (
  SELECT * FROM unnest($1::text[], $2::int[], $3::int[]) AS t(rda_id, per_minute, wanted)
), held AS MATERIALIZED (
  SELECT rda_id, since, used FROM run_rate WHERE rda_id = ANY ($1::text[]) ORDER BY rda_id FOR UPDATE
), counted AS MATERIALIZED (
  SELECT held.rda_id, w.since, w.used, greatest(0, least(ask.wanted, ask.per_minute - w.used))::int AS room
  FROM held JOIN ask USING (rda_id),
       LATERAL (SELECT CASE WHEN held.since <= $5 THEN $4::timestamptz ELSE held.since END AS since,
                       CASE WHEN held.since <= $5 THEN 0 ELSE held.used END AS used) w
), taken AS (
  UPDATE run_rate r SET since = counted.since, used = counted.used + counted.room
  FROM counted WHERE r.rda_id = counted.rda_id
)
SELECT rda_id, since, room FROM counted`

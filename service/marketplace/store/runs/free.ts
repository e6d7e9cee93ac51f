import type { StatementPool, Statements } from '../../../kit/transaction.ts'
import { ZERO, type Usdc } from '../../../kit/money.ts'
import { GUESTS } from '../../../ledger/model.ts'
import type { FreeRunsBound, UnpaidBound, UnpaidBy } from '../../model/run.ts'
import type { FreeRun, FreeRuns, UnpaidCosts } from '../../ports/run.ts'

/** Counts, in the same rows, what vendors bill for runs that nobody pays; no row is written for what is paid. */
export function createUnpaidCosts(statements: Statements, most: Readonly<Record<UnpaidBound, Usdc>>): UnpaidCosts {
  return {
    async reached(run, now) {
      const day = dayOf(now)
      const rows = await statements.run<{ owner: string; unpaid: Usdc }>(
        `SELECT owner, unpaid FROM run_free WHERE at = $1 AND (owner = '' AND caller = $2 OR owner = $3 AND caller = '')`,
        [day, callerOf(run), creatorOf(run)],
        'run_unpaid',
      )
      const own = rows.find(({ owner }) => owner === '')?.unpaid ?? ZERO
      const creators = rows.find(({ owner }) => owner !== '')?.unpaid ?? ZERO
      const full = (of: UnpaidBound, cost: Usdc): boolean => most[of] > ZERO && cost >= most[of]
      const resetsAt = new Date(day.getTime() + DAY_MS)
      if (full('caller', own)) return { of: 'caller', resetsAt }
      // Others must not stop an account whose own runs have cost nothing. A new wallet is free, so guests are bounded together.
      const isBound = own > ZERO || run.userId === GUESTS
      return isBound && full('creator', creators) ? { of: 'creator', resetsAt } : null
    },

    async count(inside, ended) {
      const costs = ended.filter(({ state, modelCost }) => state !== 'succeeded' && modelCost > ZERO)
      if (costs.length === 0) return
      const counted = costs.flatMap(({ run, endedAt, modelCost }) => [
        { day: dayOf(endedAt), owner: creatorOf(run), caller: '', modelCost },
        { day: dayOf(endedAt), owner: '', caller: callerOf(run), modelCost },
      ])
      await inside.run(
        COUNT_UNPAID,
        [
          counted.map(({ day }) => day),
          counted.map(({ owner }) => owner),
          counted.map(({ caller }) => caller),
          counted.map(({ modelCost }) => modelCost),
        ],
        'run_unpaid_count',
      )
    },
  }
}

/** Counts what free prompts take of their creators, over all processes; a row of the database decides each one. */
export function createFreeRuns(statements: StatementPool, most: { perDay: number; perCaller: number }): FreeRuns {
  return {
    async take(run, now) {
      const { caller, own } = run
      const [day, owner, counted] = [dayOf(now), ownerOf(run), countedOf(run)]
      try {
        await statements.together(async (inside) => {
          // The caller's row first, always: two that wait for each other's rows would deadlock.
          if (!(await one(inside, [day, owner, caller, most.perCaller]))) throw new UsedUp('caller')
          if (!(await one(inside, [day, counted, '', own?.perDay ?? most.perDay]))) {
            throw new UsedUp(own === null ? 'day' : 'asset')
          }
        })
        return null
      } catch (error) {
        if (!(error instanceof UsedUp)) throw error
        const resetsAt = new Date(day.getTime() + DAY_MS)
        return { of: error.of, resetsAt, first: await isFirst(error.of, day, counted) }
      }
    },

    async giveBack(run, now) {
      await statements.run(
        `UPDATE run_free SET used = used - 1
         WHERE at = $1 AND used > 0 AND (owner = $2 AND caller = $3 OR owner = $4 AND caller = '')`,
        [dayOf(now), ownerOf(run), run.caller, countedOf(run)],
      )
    },
  }

  async function isFirst(of: UsedUp['of'], day: Date, owner: string): Promise<boolean> {
    if (of === 'caller') return false
    // A creator who gives no free runs has a row at most for unpaid costs, and needs no notice.
    const rows = await statements.run(
      `UPDATE run_free SET told = true WHERE at = $1 AND owner = $2 AND caller = '' AND used > 0 AND NOT told RETURNING 1`,
      [day, owner],
    )
    return rows.length > 0
  }
}

class UsedUp extends Error {
  override readonly name = 'UsedUp'
  readonly of: FreeRunsBound

  constructor(of: FreeRunsBound) {
    super(`the free runs of this ${of} are used up`)
    this.of = of
  }
}

async function one(inside: Statements, values: readonly unknown[]): Promise<boolean> {
  return (await inside.run(TAKE, values, 'run_free_take')).length > 0
}

function ownerOf({ creator }: FreeRun): string {
  return `${creator.environment}/${creator.userId}`
}

function creatorOf({ environment, ownerId }: UnpaidBy): string {
  return `${environment}/${ownerId}`
}

/** All guests have one account: one of them is known by its wallet. */
function callerOf({ environment, userId, subject }: UnpaidBy): string {
  return `${environment}/${userId}` + (userId === GUESTS ? `/${subject.toLowerCase()}` : '')
}

function countedOf(run: FreeRun): string {
  return run.own === null ? ownerOf(run) : `${run.creator.environment}/${run.own.rda}`
}

function dayOf(now: Date): Date {
  return new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS)
}

const DAY_MS = 86_400_000

const TAKE = `
INSERT INTO run_free AS f (at, owner, caller, used) SELECT $1, $2, $3, 1 WHERE $4::int > 0
ON CONFLICT (at, owner, caller) DO UPDATE SET used = f.used + 1 WHERE f.used < $4::int
RETURNING 1`

// In the order of the key: two that wait for each other's rows would deadlock.
const COUNT_UNPAID = `
INSERT INTO run_free AS f (at, owner, caller, used, unpaid)
SELECT at, owner, caller, 0, sum(cost) FROM unnest($1::timestamptz[], $2::text[], $3::text[], $4::bigint[]) AS t(at, owner, caller, cost)
GROUP BY at, owner, caller ORDER BY at, owner, caller
ON CONFLICT (at, owner, caller) DO UPDATE SET unpaid = f.unpaid + excluded.unpaid`

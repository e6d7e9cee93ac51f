import { Batch } from '../kit/batch.ts'
import type { Clock } from '../kit/clock.ts'
import { retryConflicts, type StatementPool, type Statements } from '../kit/transaction.ts'
import type { Act, ActOutcome, Ended, Hold, Reserve } from './model.ts'
import type { Also, Judge, LedgerStore } from './ports.ts'
import { Accounts } from './store/accounts.ts'
import { readBalances } from './store/balances.ts'
import { findDifferences } from './store/check.ts'
import { credit } from './store/credit.ts'
import { endAll, expireSome } from './store/end.ts'
import { fly, flyInside, type Answer, type Ask } from './store/flight.ts'
import { readDays } from './store/days.ts'
import { createPreparation, type EndingAsk } from './store/prepare.ts'
import { readCredits, readStatement, readTotals, readWallet } from './store/read.ts'
import { reserveAll } from './store/reserve.ts'
import { transfer } from './store/transfer.ts'

/** The ledger in PostgreSQL. Locks taken and ended at the same moment travel together; see `store/flight.ts`. */
export function createLedgerStore(statements: StatementPool, clock: Clock): LedgerStore {
  const accounts = new Accounts(statements)
  const prepare = createPreparation(accounts, clock)
  const flights = new Batch<Ask, Answer>({
    largest: BATCH_MAX,
    run: (asks) => retryConflicts(() => fly(statements, asks)),
  })

  async function reserve(command: Reserve, inside?: Statements): Promise<Hold> {
    const ask = await prepare.reserve(command, inside)
    for (;;) {
      const answer = inside === undefined ? await flights.add(ask) : only(await reserveAll(inside, [ask.reserve]))
      if ('hold' in answer) return answer.hold
      if ('refusal' in answer) throw answer.refusal
    }
  }

  async function end(ask: EndingAsk, inside?: Statements): Promise<Ended> {
    const answer = inside === undefined ? await flights.add(ask) : only(await endAll(inside, [ask.end]))
    if ('ended' in answer) return answer.ended
    if ('refusal' in answer) throw answer.refusal
    throw new Error('an end was answered like a reserve')
  }

  async function actTogether<T>(acts: readonly Act[], also: Also<T>, judge?: Judge): Promise<T> {
    const prepared: (Ask | Error)[] = []
    for (const act of acts) prepared.push(await prepare.act(act))
    return await retryConflicts(() =>
      statements.together(async (inside) => {
        const judged = (await judge?.(inside, acts)) ?? []
        const asks = prepared.filter((ask, place): ask is Ask => !(ask instanceof Error) && judged[place] == null)
        const answers = await flyInside(inside, asks)
        const byAsk = new Map(asks.map((ask, place) => [ask, answers[place]]))
        const outcomes = prepared.map((ask, place): ActOutcome => {
          const outcome = judged[place] ?? (ask instanceof Error ? { refusal: ask } : byAsk.get(ask))
          if (outcome === undefined) throw new Error('a flight left an ask without an answer')
          return outcome
        })
        return await also(inside, outcomes)
      }),
    )
  }

  return {
    reserve,
    capture: async (command, inside) => end(await prepare.capture(command, inside), inside),
    release: async (command, inside) => end(await prepare.release(command, inside), inside),
    actTogether,
    credit: (command, inside) => retrying(inside, () => credit(statements, accounts, command, clock.now(), inside)),
    transfer: (command, inside) => retrying(inside, () => transfer(statements, accounts, command, clock.now(), inside)),
    expire: (now, limit) => expireSome(statements, now, limit),
    async openAccounts(userId, inside = statements) {
      await inside.run(OPEN_ACCOUNTS, [userId])
    },
    wallet: (owner) => readWallet(statements, accounts, owner),
    credits: (owner) => readCredits(statements, accounts, owner),
    balances: (owners, inside = statements) => readBalances(inside, accounts, owners),
    statement: (owner, page) => readStatement(statements, accounts, owner, page),
    days: (owner, since, sold) => readDays(statements, accounts, owner, since, sold),
    totals: (environment, inside = statements) => readTotals(inside, environment),
    async findMovement(id) {
      const [row] = await statements.run<{ reference: string | null; at: Date }>(
        'SELECT reference, at FROM ledger_movement WHERE id = $1',
        [id],
      )
      return row ?? null
    },
    differences: () => findDifferences(statements),
  }
}

// One batch is fastest: two, by wallet, made smaller flights that took turns at the same disk (on a thousand wallets,
// 0.6 of the pace).
const BATCH_MAX = 256

const OPEN_ACCOUNTS = `
INSERT INTO ledger_account (environment, owner, kind)
SELECT environment, $1, kind
FROM unnest(ARRAY['sandbox', 'production']::environment[]) AS environment,
     unnest(ARRAY['wallet', 'credits']::ledger_account_kind[]) AS kind
ON CONFLICT (owner, environment, kind, stripe) DO NOTHING`

/** A collision ends the caller's transaction, so there only the caller can begin again. */
async function retrying<T>(inside: Statements | undefined, statement: () => Promise<T>): Promise<T> {
  return inside === undefined ? await retryConflicts(statement) : await statement()
}

function only<T>(items: readonly T[]): T {
  const [item] = items
  if (item === undefined) throw new Error('a statement gave no answer')
  return item
}

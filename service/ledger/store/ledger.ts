import { Batch } from '../../kit/batch.ts'
import type { Clock } from '../../kit/clock.ts'
import { retryConflicts, type StatementPool, type Statements } from '../../kit/transaction.ts'
import type { Act, ActOutcome, Ended, Hold, Reserve } from '../model.ts'
import type { Also, Judge, LedgerStore } from '../ports.ts'
import { Accounts } from './accounts.ts'
import { findDifferences } from './check.ts'
import { credit } from './credit.ts'
import { endAll, expireSome } from './end.ts'
import { flush, flushInside, type Charge, type ChargeResult } from './charge-batch.ts'
import { createPreparation, type EndCharge } from './prepare.ts'
import { createLedgerReads } from './read.ts'
import { reserveAll } from './reserve.ts'
import { transfer } from './transfer.ts'

/** The ledger in PostgreSQL. Holds taken and ended at the same moment share a batch; see `charge-batch.ts`. */
export function createLedgerStore(statements: StatementPool, clock: Clock): LedgerStore {
  const accounts = new Accounts(statements)
  const prepare = createPreparation(accounts, clock)
  const batch = new Batch<Charge, ChargeResult>({
    largest: BATCH_MAX,
    run: (charges) => retryConflicts(() => flush(statements, charges)),
  })

  async function reserve(command: Reserve, inside?: Statements): Promise<Hold> {
    const charge = await prepare.reserve(command, inside)
    for (;;) {
      const result = inside === undefined ? await batch.add(charge) : only(await reserveAll(inside, [charge.reserve]))
      if ('hold' in result) return result.hold
      if ('refusal' in result) throw result.refusal
    }
  }

  async function end(charge: EndCharge, inside?: Statements): Promise<Ended> {
    const result = inside === undefined ? await batch.add(charge) : only(await endAll(inside, [charge.end]))
    if ('ended' in result) return result.ended
    if ('refusal' in result) throw result.refusal
    throw new Error('an end was answered like a reserve')
  }

  async function actTogether<T>(acts: readonly Act[], also: Also<T>, judge?: Judge): Promise<T> {
    const prepared: (Charge | Error)[] = []
    for (const act of acts) prepared.push(await prepare.act(act))
    return await retryConflicts(() =>
      statements.together(async (inside) => {
        const judged = (await judge?.(inside, acts)) ?? []
        const charges = prepared.filter((one, place): one is Charge => !(one instanceof Error) && judged[place] == null)
        const results = await flushInside(inside, charges)
        const byCharge = new Map(charges.map((charge, place) => [charge, results[place]]))
        const outcomes = prepared.map((one, place): ActOutcome => {
          const outcome = judged[place] ?? (one instanceof Error ? { refusal: one } : byCharge.get(one))
          if (outcome === undefined) throw new Error('a batch left a charge without a result')
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
    credit: (command, inside) => retrying(inside, () => credit({ statements, accounts, inside }, command, clock.now())),
    transfer: (command, inside) =>
      retrying(inside, () => transfer({ statements, accounts, inside }, command, clock.now())),
    expire: (now, limit) => expireSome(statements, now, limit),
    async openAccounts(userId, inside = statements) {
      await inside.run(OPEN_ACCOUNTS, [userId])
    },
    ...createLedgerReads(statements, accounts),
    differences: () => findDifferences(statements),
  }
}

// One batch is fastest: two, by wallet, made smaller batches that took turns at the same disk (on a thousand wallets,
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

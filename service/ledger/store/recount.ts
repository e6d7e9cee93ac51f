import type { Statements } from '../../kit/transaction.ts'
import type { Difference } from '../ports.ts'

export interface Recount {
  readonly postings: number
  readonly movements: number
  readonly accounts: number
  /** How many statements read them. */
  readonly steps: number
  /** False when the time ended first: then no balance was compared, only the sums of the movements that were read. */
  readonly complete: boolean
  readonly differences: readonly Difference[]
}

/**
 * Adds the postings up in steps that each read a bounded number of rows by the primary key, so that a ledger of any size
 * can be looked at beside a busy service. `findDifferences` looks at more, in statements that each read whole tables. All
 * steps must read one snapshot, or a movement between two of them looks like a difference.
 */
export async function recount(
  statements: Statements,
  { pageSize = 5_000, hasTime }: { pageSize?: number; hasTime: () => boolean },
): Promise<Recount> {
  const sums = new Map<string, Sums>()
  const differences: Difference[] = []
  let [postings, movements, steps] = [0, 0, 0]
  let after: Posting | null = null
  let sum = 0n
  const endMovement = (): void => {
    if (after === null) return
    movements++
    if (sum !== 0n) note(differences, [`movement ${after.movement}`, 'sum', 0n, sum])
    sum = 0n
  }
  for (;;) {
    if (!hasTime()) return { postings, movements, accounts: 0, steps, complete: false, differences }
    const page: Posting[] = await statements.run<Posting>(POSTINGS, [...placeOf(after), pageSize], 'ledger_recount')
    steps++
    for (const posting of page) {
      if (posting.movement !== after?.movement) endMovement()
      sum += BigInt(posting.available) + BigInt(posting.locked)
      add(sums, posting)
      postings++
      after = posting
    }
    if (page.length < pageSize) break
  }
  endMovement()
  const { accounts, pages } = await compare(statements, { sums, differences, pageSize })
  return { postings, movements, accounts, steps: steps + pages, complete: true, differences }
}

interface Posting {
  movement: string
  account: string
  side: string
  kind: string
  available: string
  locked: string
}

interface Sums {
  available: bigint
  locked: bigint
  deposited: bigint
  spent: bigint
}

// The columns have their table's name: `ORDER BY side` alone would sort the answer's text and read the whole table.
const POSTINGS = `
SELECT movement_id AS movement, account_id::text AS account, side::text AS side, kind::text AS kind,
       available::text AS available, locked::text AS locked
FROM ledger_posting p
WHERE (p.movement_id, p.account_id, p.side) > ($1, $2::bigint, $3::ledger_side)
ORDER BY p.movement_id, p.account_id, p.side LIMIT $4`

function placeOf(after: Posting | null): [movement: string, account: string, side: string] {
  return after === null ? ['', '0', 'payer'] : [after.movement, after.account, after.side]
}

/** As the trigger on the postings adds them to their account. */
function add(sums: Map<string, Sums>, { account, side, kind, ...amounts }: Posting): void {
  const of = sums.get(account) ?? { available: 0n, locked: 0n, deposited: 0n, spent: 0n }
  const [available, locked] = [BigInt(amounts.available), BigInt(amounts.locked)]
  of.available += available
  of.locked += locked
  if (side === 'receiver' && (kind === 'deposit' || kind === 'grant')) of.deposited += available
  if (side === 'payer' && (kind === 'capture' || kind === 'transfer')) of.spent -= available + locked
  sums.set(account, of)
}

interface Account extends Record<keyof Sums, string> {
  id: string
  name: string
}

const ACCOUNTS = `
SELECT id::text AS id, environment || ' ' || owner || ' ' || kind AS name, available::text AS available,
       locked::text AS locked, deposited::text AS deposited, spent::text AS spent
FROM ledger_account a WHERE a.id > $1::bigint ORDER BY a.id LIMIT $2`

const FIGURES = ['available', 'locked', 'deposited', 'spent'] as const
const NOTHING: Sums = { available: 0n, locked: 0n, deposited: 0n, spent: 0n }

/** Each account against its sums; sums that are left belong to no account. */
async function compare(
  statements: Statements,
  { sums, differences, pageSize }: { sums: Map<string, Sums>; differences: Difference[]; pageSize: number },
): Promise<{ accounts: number; pages: number }> {
  let [accounts, pages, after] = [0, 0, '0']
  for (;;) {
    const page: Account[] = await statements.run<Account>(ACCOUNTS, [after, pageSize], 'ledger_recount_accounts')
    pages++
    for (const account of page) {
      const recomputed = sums.get(account.id) ?? NOTHING
      for (const figure of FIGURES) {
        const subject = `account ${account.id} (${account.name})`
        note(differences, [subject, figure, BigInt(account[figure]), recomputed[figure]])
      }
      sums.delete(account.id)
      accounts++
      after = account.id
    }
    if (page.length < pageSize) break
  }
  for (const [id, { available }] of sums) note(differences, [`account ${id} (none)`, 'available', null, available])
  return { accounts, pages }
}

/** As many as anybody reads. */
const DIFFERENCES_MAX = 1_000

function note(
  differences: Difference[],
  [subject, figure, recorded, recomputed]: readonly [string, string, bigint | null, bigint],
): void {
  if (recorded === recomputed || differences.length >= DIFFERENCES_MAX) return
  const difference = { subject, figure, recorded: recorded === null ? 'none' : String(recorded) }
  differences.push({ ...difference, recomputed: String(recomputed) })
}

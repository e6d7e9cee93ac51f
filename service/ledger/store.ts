import { Batch } from '../kit/batch.ts'
import type { Clock } from '../kit/clock.ts'
import type { StatementPool, Statements } from '../kit/transaction.ts'
import type { Capture, Hold, Owner, Release, Reserve } from './model.ts'
import type { Ended, LedgerStore } from './ports.ts'
import { Accounts } from './store/accounts.ts'
import { findDifferences } from './store/check.ts'
import { credit } from './store/credit.ts'
import { endAll, expireSome, hashOfCapture, hashOfRelease, type EndAsk } from './store/end.ts'
import { fly, type Answer, type Ask } from './store/flight.ts'
import { readCredits, readStatement, readWallet } from './store/read.ts'
import { reserveAll } from './store/reserve.ts'
import { transfer } from './store/transfer.ts'

/** The ledger in PostgreSQL. Locks taken and ended at the same moment travel together; see `store/flight.ts`. */
export function createLedgerStore(statements: StatementPool, clock: Clock, options: Options = {}): LedgerStore {
  const accounts = new Accounts(statements)
  const flights = new Batch<Ask, Answer>({
    lanes: options.lanes ?? LANES,
    largest: options.batchMax ?? BATCH_MAX,
    laneOf: (ask) => scatter('reserve' in ask ? ask.reserve.accounts.wallet : ask.wallet),
    run: (asks) => again(() => fly(statements, asks)),
  })

  async function reserve(command: Reserve, inside?: Statements): Promise<Hold> {
    const ask = { command, accounts: await accounts.of(command.owner, inside), at: clock.now() }
    for (;;) {
      const answer = inside === undefined ? await flights.add({ reserve: ask }) : only(await reserveAll(inside, [ask]))
      if ('hold' in answer) return answer.hold
      if ('refusal' in answer) throw answer.refusal
    }
  }

  async function end(ask: EndAsk, owner: Owner, inside?: Statements): Promise<Ended> {
    const { wallet } = await accounts.of(owner, inside)
    const answer = inside === undefined ? await flights.add({ end: ask, wallet }) : only(await endAll(inside, [ask]))
    if ('ended' in answer) return answer.ended
    if ('refusal' in answer) throw answer.refusal
    throw new Error('an end was answered like a reserve')
  }

  async function capture(command: Capture, inside?: Statements): Promise<Ended> {
    const { environment } = command.owner
    const shares: { account: bigint; amount: bigint }[] = []
    for (const { to, amount } of command.shares) {
      shares.push({ account: await accounts.recipient(to, environment, inside), amount })
    }
    return await end(
      {
        hold: command.hold,
        hash: hashOfCapture(command),
        state: 'captured',
        kind: command.kind,
        amount: command.amount,
        shares,
        revenue: await accounts.ofPlatform(environment, 'revenue', inside),
        redeemed: await accounts.ofPlatform(environment, 'redeemed', inside),
        reference: command.reference,
        announcements: command.announcements,
        at: clock.now(),
      },
      command.owner,
      inside,
    )
  }

  async function release(command: Release, inside?: Statements): Promise<Ended> {
    return await end(
      {
        hold: command.hold,
        hash: hashOfRelease(),
        state: 'released',
        kind: 'release',
        amount: 0n,
        shares: [],
        revenue: 0n,
        redeemed: 0n,
        reference: null,
        announcements: command.announcements,
        at: clock.now(),
      },
      command.owner,
      inside,
    )
  }

  return {
    reserve,
    capture,
    release,
    credit: (command, inside) => retrying(inside, () => credit(statements, accounts, command, clock.now(), inside)),
    transfer: (command, inside) => retrying(inside, () => transfer(statements, accounts, command, clock.now(), inside)),
    expire: (now, limit) => expireSome(statements, now, limit),
    async openAccounts(userId, inside = statements) {
      await inside.run(OPEN_ACCOUNTS, [userId])
    },
    wallet: (owner) => readWallet(statements, accounts, owner),
    credits: (owner) => readCredits(statements, accounts, owner),
    statement: (owner, page) => readStatement(statements, accounts, owner, page),
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

interface Options {
  /** Batches under way at once; a wallet is always in the same lane. */
  lanes?: number
  batchMax?: number
}

// One was fastest: two made smaller flights that took turns at the same disk (on a thousand wallets, 0.6 of the pace).
const LANES = 1
const BATCH_MAX = 256

/** A person's accounts are numbered together, so wallets' numbers have a rhythm that lanes must not share. */
function scatter(wallet: bigint): number {
  return Number(BigInt.asUintN(32, wallet * 2_654_435_761n) >> 16n)
}

const OPEN_ACCOUNTS = `
INSERT INTO ledger_account (environment, owner, kind)
SELECT environment, $1, kind
FROM unnest(ARRAY['sandbox', 'production']::environment[]) AS environment,
     unnest(ARRAY['wallet', 'credits']::ledger_account_kind[]) AS kind
ON CONFLICT (owner, environment, kind, stripe) DO NOTHING`

/** A collision ends the caller's transaction, so there only the caller can begin again. */
async function retrying<T>(inside: Statements | undefined, statement: () => Promise<T>): Promise<T> {
  return inside === undefined ? await again(statement) : await statement()
}

/**
 * Another process committed the same movement, or locked the same rows the other way round, after this
 * statement took its view: with a new view it finds what is there. Every statement here is safe to repeat.
 */
async function again<T>(statement: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await statement()
    } catch (error) {
      if (attempt === ATTEMPTS || !COLLISIONS.has((error as { code?: string }).code ?? '')) throw error
    }
  }
}

const ATTEMPTS = 3
/** Unique violation, deadlock, serialization failure. */
const COLLISIONS = new Set(['23505', '40P01', '40001'])

function only<T>(items: readonly T[]): T {
  const [item] = items
  if (item === undefined) throw new Error('a statement gave no answer')
  return item
}

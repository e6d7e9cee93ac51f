import type { StatementPool, Statements } from '../../kit/transaction.ts'
import type { Reserve } from '../model.ts'
import { endAll, type EndResult, type EndRequest } from './end.ts'
import { reserveAll, type ReserveResult, type ReserveRequest } from './reserve.ts'

/** What a batch is made of: holds to take and holds to end. */
export type Charge = { reserve: ReserveRequest } | { end: EndRequest; wallet: bigint }
export type ChargeResult = ReserveResult | EndResult

/**
 * Of one kind, a batch is one statement. Mixed, its statements go in one transaction and are flushed once: a busy
 * wallet's charges, of which some begin while others end, would otherwise wait for each other's flushes on its one row.
 * All holds and accounts are locked first, in the order of their ids, as everywhere.
 */
export async function flush(statements: StatementPool, charges: readonly Charge[]): Promise<ChargeResult[]> {
  const batch = plan(charges)
  const [only] = batch.steps
  // Alone in its transaction: nothing that has to be on the disk commits with it.
  const isAsync = charges.every((charge) => 'reserve' in charge && charge.reserve.command.durability === 'async')
  if (only !== undefined && batch.steps.length === 1) await only(statements, isAsync ? 'async' : 'sync')
  else await statements.together((inside) => perform(inside, charges, batch.steps))
  return batch.results()
}

/** The same inside a caller's transaction, which writes more with it. */
export async function flushInside(inside: Statements, charges: readonly Charge[]): Promise<ChargeResult[]> {
  const batch = plan(charges)
  await perform(inside, charges, batch.steps)
  return batch.results()
}

type Step = (inside: Statements, durability?: Reserve['durability']) => Promise<void>

async function perform(inside: Statements, charges: readonly Charge[], steps: readonly Step[]): Promise<void> {
  // A single statement takes its own locks in that order.
  if (steps.length > 1) await inside.run(LOCK, [holdsOf(charges), accountsOf(charges)], 'ledger_lock')
  for (const step of steps) await step(inside)
}

function plan(charges: readonly Charge[]): { steps: readonly Step[]; results(): ChargeResult[] } {
  const results = new Map<Charge, ChargeResult>()
  const record = (of: readonly Charge[], found: readonly ChargeResult[]): void =>
    found.forEach((result, place) => of[place] !== undefined && results.set(of[place], result))
  const ends = charges.filter((charge) => 'end' in charge)
  const reserves = charges.filter((charge) => 'reserve' in charge)
  const endRequests = ends.map(({ end }) => end)
  const steps: Step[] = []
  // In this order: what ends gives its room to what begins.
  if (ends.length > 0) steps.push(async (inside) => record(ends, await endAll(inside, endRequests)))
  // Apart, since all requests of a wallet in one statement must count its credits, or none (`running` in reserve.ts).
  for (const useCredits of [false, true]) {
    const alike = reserves.filter(({ reserve }) => reserve.command.useCredits === useCredits)
    const requests = alike.map(({ reserve }) => reserve)
    if (alike.length === 0) continue
    steps.push(async (inside, durability) => record(alike, await reserveAll(inside, requests, durability)))
  }
  return {
    steps,
    results: () =>
      charges.map((charge) => {
        const result = results.get(charge)
        if (result === undefined) throw new Error('a batch left a charge without a result')
        return result
      }),
  }
}

function accountsOf(charges: readonly Charge[]): bigint[] {
  const all = charges.flatMap((charge) => {
    if ('reserve' in charge) return [charge.reserve.accounts.wallet, charge.reserve.accounts.credits]
    const { shares, revenue, redeemed } = charge.end
    return [charge.wallet, ...shares.map(({ account }) => account), revenue, redeemed]
  })
  return [...new Set(all)]
}

function holdsOf(charges: readonly Charge[]): string[] {
  return charges.flatMap((charge) => ('end' in charge ? [charge.end.hold] : []))
}

// Holds before accounts, as in the statements that end them: two processes that end the same hold would otherwise
// wait on each other.
const LOCK = `
WITH held AS MATERIALIZED (
  SELECT id FROM ledger_hold WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE
)
SELECT FROM ledger_account
WHERE (SELECT count(*) FROM held) >= 0 AND id = ANY ($2::bigint[])
ORDER BY id
FOR NO KEY UPDATE`

import type { StatementPool, Statements } from '../../kit/transaction.ts'
import { endAll, type EndAnswer, type EndAsk } from './end.ts'
import { reserveAll, type ReserveAnswer, type ReserveAsk } from './reserve.ts'

/** What travels together: locks to take and locks to end, of wallets that share a lane. */
export type Ask = { reserve: ReserveAsk } | { end: EndAsk; wallet: bigint }
export type Answer = ReserveAnswer | EndAnswer

/**
 * One flight of a lane. Of one kind it is one statement. Mixed, the statements go in one transaction and are
 * flushed once: a busy wallet's charges, of which some begin while others end, would otherwise wait for each
 * other's flushes on its one row. All accounts are taken first, in the order of their ids, as everywhere.
 */
export async function fly(statements: StatementPool, asks: readonly Ask[]): Promise<Answer[]> {
  const answers = new Map<Ask, Answer>()
  const ends = asks.filter((ask) => 'end' in ask)
  const reserves = asks.filter((ask) => 'reserve' in ask)
  const perform: ((inside: Statements) => Promise<void>)[] = []
  // In this order: what ends gives its room to what begins.
  if (ends.length > 0) {
    perform.push(async (inside) => {
      const given = await endAll(
        inside,
        ends.map(({ end }) => end),
      )
      pair(ends, given, answers)
    })
  }
  // Apart, since all asks of a wallet in one statement must count its credits, or none (`running` in reserve.ts).
  for (const useCredits of [false, true]) {
    const alike = reserves.filter(({ reserve }) => reserve.command.useCredits === useCredits)
    if (alike.length === 0) continue
    perform.push(async (inside) => {
      const given = await reserveAll(
        inside,
        alike.map(({ reserve }) => reserve),
      )
      pair(alike, given, answers)
    })
  }
  const [only] = perform
  if (only !== undefined && perform.length === 1) await only(statements)
  else {
    await statements.together(async (inside) => {
      await inside.run(LOCK, [accountsOf(asks)], 'ledger_lock')
      for (const step of perform) await step(inside)
    })
  }
  return asks.map((ask) => {
    const answer = answers.get(ask)
    if (answer === undefined) throw new Error('a flight left an ask without an answer')
    return answer
  })
}

function pair(asks: readonly Ask[], given: readonly Answer[], answers: Map<Ask, Answer>): void {
  asks.forEach((ask, place) => {
    const answer = given[place]
    if (answer !== undefined) answers.set(ask, answer)
  })
}

function accountsOf(asks: readonly Ask[]): bigint[] {
  const all = asks.flatMap((ask) =>
    'reserve' in ask
      ? [ask.reserve.accounts.wallet, ask.reserve.accounts.credits]
      : [ask.wallet, ...ask.end.shares.map(({ account }) => account), ask.end.revenue, ask.end.redeemed],
  )
  return [...new Set(all)]
}

const LOCK = 'SELECT FROM ledger_account WHERE id = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE'

import type { StatementPool, Statements } from '../../kit/transaction.ts'
import { endAll, type EndAnswer, type EndAsk } from './end.ts'
import { reserveAll, type ReserveAnswer, type ReserveAsk } from './reserve.ts'

/** What travels together: locks to take and locks to end. */
export type Ask = { reserve: ReserveAsk } | { end: EndAsk; wallet: bigint }
export type Answer = ReserveAnswer | EndAnswer

/**
 * One flight of a lane. Of one kind it is one statement. Mixed, the statements go in one transaction and are
 * flushed once: a busy wallet's charges, of which some begin while others end, would otherwise wait for each
 * other's flushes on its one row. All locks and accounts are taken first, in the order of their ids, as everywhere.
 */
export async function fly(statements: StatementPool, asks: readonly Ask[]): Promise<Answer[]> {
  const flight = plan(asks)
  const [only] = flight.steps
  // Alone in its transaction: nothing that has to be on the disk commits with it.
  const fleeting = asks.every((ask) => 'reserve' in ask && ask.reserve.command.fleeting === true)
  if (only !== undefined && flight.steps.length === 1) await only(statements, fleeting)
  else await statements.together((inside) => perform(inside, asks, flight.steps))
  return flight.answers()
}

/** The same inside a transaction of somebody's, who writes more with it. */
export async function flyInside(inside: Statements, asks: readonly Ask[]): Promise<Answer[]> {
  const flight = plan(asks)
  await perform(inside, asks, flight.steps)
  return flight.answers()
}

type Step = (inside: Statements, fleeting?: boolean) => Promise<void>

async function perform(inside: Statements, asks: readonly Ask[], steps: readonly Step[]): Promise<void> {
  // A lone statement takes its own locks in that order.
  if (steps.length > 1) await inside.run(LOCK, [holdsOf(asks), accountsOf(asks)], 'ledger_lock')
  for (const step of steps) await step(inside)
}

function plan(asks: readonly Ask[]): { steps: readonly Step[]; answers(): Answer[] } {
  const answers = new Map<Ask, Answer>()
  const ends = asks.filter((ask) => 'end' in ask)
  const reserves = asks.filter((ask) => 'reserve' in ask)
  const steps: Step[] = []
  // In this order: what ends gives its room to what begins.
  if (ends.length > 0) {
    steps.push(async (inside) => {
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
    steps.push(async (inside, fleeting) => {
      const given = await reserveAll(
        inside,
        alike.map(({ reserve }) => reserve),
        fleeting,
      )
      pair(alike, given, answers)
    })
  }
  return {
    steps,
    answers: () =>
      asks.map((ask) => {
        const answer = answers.get(ask)
        if (answer === undefined) throw new Error('a flight left an ask without an answer')
        return answer
      }),
  }
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

function holdsOf(asks: readonly Ask[]): string[] {
  return asks.flatMap((ask) => ('end' in ask ? [ask.end.hold] : []))
}

// Locks before accounts, as in the statements that end them: two processes that end the same lock would otherwise
// wait on each other.
const LOCK = `
WITH held AS MATERIALIZED (
  SELECT id FROM ledger_hold WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE
)
SELECT FROM ledger_account
WHERE (SELECT count(*) FROM held) >= 0 AND id = ANY ($2::bigint[])
ORDER BY id
FOR NO KEY UPDATE`

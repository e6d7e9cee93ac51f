import { transactionUrl } from '../chain/networks.ts'
import { toDecimal } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Transfer } from '../transfers/model.ts'
import { findTransfers } from '../transfers/store.ts'

/** `npm run admin -- transfers`: where money is that leaves. All that has not ended, or one of it with all that is known. */
export async function showTransfers(statements: Statements, id: string | undefined, now: Date): Promise<string | null> {
  if (id !== undefined) {
    const found = await findTransfers(statements, { id })
    return found.length === 0 ? null : found.map(wholeOf).join('\n\n')
  }
  const open = await findTransfers(statements, { limit: SHOWN + 1 })
  if (open.length === 0) return 'Every transfer has ended.'
  const count = open.length > SHOWN ? `The ${String(SHOWN)} oldest transfers that have not ended:` : 'Not ended yet:'
  return [count, ...open.slice(0, SHOWN).map((one) => lineOf(one, now)), FURTHER].join('\n')
}

function lineOf(one: Transfer, now: Date): string {
  const minutes = Math.floor((now.getTime() - one.createdAt.getTime()) / 60_000)
  const about = [
    one.id.padEnd(32),
    one.kind.padEnd(11),
    `${toDecimal(one.amount)} USDC`.padStart(16),
    one.state.padEnd(8),
  ]
  return `  ${about.join(' ')} ${`${String(minutes)} min`.padStart(9)}  ${placeOf(one)}`
}

function wholeOf(one: Transfer): string {
  const { id, kind, amount, network, state, from, to, nonce, validBefore, txHash } = one
  const times = [
    ['created', one.createdAt],
    ['sent', one.sentAt],
    ['ended', one.endedAt],
  ] as const
  const lines: readonly (readonly [string, string | null])[] = [
    ['where', placeOf(one)],
    ['account', one.userId === null ? null : `${one.userId} (${one.environment ?? ''})`],
    ['from', from],
    ['to', to],
    ['nonce', nonce],
    ['valid until', validBefore === null ? null : new Date(Number(validBefore) * 1_000).toISOString()],
    ...times.map(([name, at]) => [name, at?.toISOString() ?? null] as const),
    ['transaction', transactionUrl(network, txHash)],
  ]
  const shown = lines.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(12)} ${value}`]))
  return [`${id}: ${kind} of ${toDecimal(amount)} USDC on ${network}, ${state}`, ...shown].join('\n')
}

/** Where it is, and what ends that. */
function placeOf({ state, kind, reason, settlement, attempts, refusal }: Transfer): string {
  switch (state) {
    case 'waiting':
      if (reason === 'signature') return 'waits for the signature of its seller'
      return reason === null ? 'waits for a worker' : `waits: ${reason}`
    case 'signed':
      return 'its terms are stored: a worker sends it'
    case 'confirmed':
      return 'has arrived'
    case 'failed':
      return reason === null ? 'was given up' : `was given up: ${reason}`
    case 'sent':
      break
  }
  // Other sellers send it themselves.
  if (kind === 'payment') return 'its seller has it: ends when it is used, or two minutes after its time'
  const tries = attempts === null || attempts < 2 ? '' : ` (transaction number ${String(attempts)})`
  switch (settlement) {
    case null:
      return 'the facilitator does not have it yet: a worker hands it over again'
    case 'claimed':
      return `is in no transaction yet${tries}: the sponsor needs gas and a node`
    case 'signed':
    case 'broadcast':
      return `its transaction waits for a block${tries}`
    case 'settled':
      return 'is in a block: counts once enough follow'
    default:
      return `was refused (${refusal ?? 'unknown'}): ${kind === 'refund_own' ? 'ends after its time' : 'is sent again until its time is over'}`
  }
}

const SHOWN = 200
const FURTHER = 'One of them with its times and hashes: npm run admin -- transfers <id>'

import { LARGEST, usdc, type Usdc } from '../kit/money.ts'
import { balanceOf, type Funds, type Line } from '../ledger/model.ts'
import { tooLarge } from './errors.ts'
import type { Transaction } from './model.ts'

/** A balance that the wire cannot say is refused before it comes to be. */
export function assertFits(funds: Funds, amount: Usdc): void {
  if (usdc(balanceOf(funds) + amount) > LARGEST) throw tooLarge()
}

/** Hashes are compared in lower case: the same transaction in other letters is the same transaction. */
export function canonicalHash(transactionHash: string): string {
  return transactionHash.toLowerCase()
}

/** What a line of the ledger's statement is to the wallet's owner. */
export function typeOf(line: Pick<Line, 'kind' | 'side'>): Transaction['type'] {
  switch (line.kind) {
    case 'deposit':
    case 'grant':
      return 'deposit'
    case 'payout':
      return 'withdrawal'
    case 'capture':
    case 'transfer':
      return line.side === 'payer' ? 'charge' : 'earning'
  }
}

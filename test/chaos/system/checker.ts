import type { Statements } from '../../../service/kit/transaction.ts'
import { checkChain } from './checker/chain.ts'
import { checkLedger } from './checker/ledger.ts'
import { checkRest } from './checker/rest.ts'
import { checkSales } from './checker/sales.ts'
import { checkThefts } from './checker/thefts.ts'
import { checkWallets } from './checker/wallets.ts'
import { checkWords } from './checker/words.ts'
import type { Evidence } from './evidence.ts'

/**
 * Compares the final state with the chain, with what receivers got and with what clients were answered: returns a
 * sentence for each contradiction. The system must be at rest; an empty list is the proof.
 */
export async function check(statements: Statements, evidence: Evidence): Promise<string[]> {
  const problems: string[] = []
  for (const one of [checkRest, checkLedger, checkChain, checkSales, checkWallets, checkWords, checkThefts]) {
    problems.push(...(await one(statements, evidence)))
  }
  return problems
}

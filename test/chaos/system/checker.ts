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
 * What stands, against the chain, those who were told and those who asked: a sentence for each thing that cannot be
 * true beside another. Of a system at rest; an empty list is the proof.
 */
export async function check(statements: Statements, evidence: Evidence): Promise<string[]> {
  const problems: string[] = []
  for (const one of [checkRest, checkLedger, checkChain, checkSales, checkWallets, checkWords, checkThefts]) {
    problems.push(...(await one(statements, evidence)))
  }
  return problems
}

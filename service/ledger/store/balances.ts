import { usdc, type Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Balances } from '../model.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Accounts } from './accounts.ts'

/** What each of these people has, in one statement; whoever has no wallet has nothing. */
export async function readBalances(
  statements: Statements,
  accounts: Accounts,
  owners: readonly Owner[],
): Promise<readonly Balances[]> {
  const found = []
  for (const owner of owners) found.push(await accounts.find(owner, statements))
  const ids = found.flatMap((own) => (own === null ? [] : [own.wallet, own.credits]))
  const rows = await statements.run<{ id: bigint; balance: Usdc }>(
    'SELECT id, available + locked AS balance FROM ledger_account WHERE id = ANY ($1::bigint[])',
    [ids],
    'ledger_balances',
  )
  const byId = new Map(rows.map(({ id, balance }) => [id, usdc(balance)]))
  const of = (id: bigint | undefined): Usdc => (id === undefined ? undefined : byId.get(id)) ?? usdc(0n)
  return found.map((own) => ({ wallet: of(own?.wallet), credits: of(own?.credits) }))
}

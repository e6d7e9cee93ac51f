import { ownerOf, type Caller } from '../identity/model.ts'
import { DomainError } from '../kit/errors.ts'
import { idLike, type Id } from '../kit/ids.ts'
import type { Ledger } from '../ledger/service.ts'
import { balanceOf } from '../ledger/model.ts'
import { walletMissing } from '../ledger/errors.ts'
import { alreadyRecorded, notProvable } from './errors.ts'
import type { Credits, Deposit, Deposited, Transaction, Wallet } from './model.ts'
import { assertFits, canonicalHash, typeOf } from './rules.ts'

export function createWallets(ledger: Ledger) {
  return {
    async balance(caller: Caller): Promise<Wallet> {
      const figures = await ledger.wallet(ownerOf(caller))
      if (figures === null) throw walletMissing()
      const { funds, locks } = figures
      return {
        userId: caller.subject,
        address: null,
        balance: balanceOf(funds),
        available: funds.available,
        locks,
        locked: funds.locked,
        deposited: funds.deposited,
        spent: funds.spent,
      }
    },

    /**
     * In the sandbox a deposit is play money and needs no chain. A hash is recorded once, whoever says it and
     * in whatever letters; the operation tells a repeated request from a second report.
     */
    async deposit(caller: Caller, deposit: Deposit, operation: Id<'op'>): Promise<Deposited> {
      const owner = ownerOf(caller)
      if (owner.environment === 'production') throw notProvable()
      const figures = await ledger.wallet(owner)
      if (figures === null) throw walletMissing()
      const { amount, transactionHash } = deposit
      const hash = transactionHash === null ? null : canonicalHash(transactionHash)
      const id = hash === null ? idLike('dep', operation) : `deposit.${owner.environment}.${hash}`
      // A deposit that is made already is in the balance: it is repeated or refused as such, not as too large.
      if ((await ledger.findMovement(id)) === null) assertFits(figures.funds, amount)
      try {
        const credited = await ledger.credit({ id, kind: 'deposit', owner, amount, reference: hash, act: operation })
        return { amount, transactionHash, newBalance: credited.balanceAfter }
      } catch (error) {
        if (transactionHash !== null && error instanceof DomainError && error.code === 'movement_conflict') {
          throw alreadyRecorded(transactionHash)
        }
        throw error
      }
    },

    async transactions(
      caller: Caller,
      page: { limit: number; offset: number },
    ): Promise<{ transactions: Transaction[]; total: number }> {
      const { lines, total } = await ledger.statement(ownerOf(caller), page)
      const transactions = lines.map((line) => ({
        id: line.movementId,
        type: typeOf(line),
        amount: line.change,
        balanceAfter: line.balanceAfter,
        reference: line.reference,
        at: line.at,
      }))
      return { transactions, total }
    },

    async credits(caller: Caller): Promise<Credits> {
      const funds = await ledger.credits(ownerOf(caller))
      if (funds === null) throw walletMissing()
      return { balance: balanceOf(funds), granted: funds.deposited, spent: funds.spent }
    },
  }
}

export type Wallets = ReturnType<typeof createWallets>

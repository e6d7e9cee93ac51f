import { ownerOf, type Caller } from '../../kit/caller.ts'
import { walletMissing } from '../../ledger/errors.ts'
import { balanceOf, type OpenLock } from '../../ledger/model.ts'
import type { Address } from '../../chain/model.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Statements } from '../../kit/transaction.ts'
import { NETWORKS, transferLink } from '../../chain/networks.ts'
import { NETWORK_OF, type Credits, type ReceivingAddress, type Transaction, type Wallet } from '../model.ts'
import { typeOf } from '../rules.ts'
import { createDepositAddress } from './addresses.ts'
import { createAlerts } from './alert.ts'
import { createCollecting } from './collect.ts'
import { createCrediting, createHints } from './credit.ts'
import { createDeposit } from './deposit.ts'
import { createHolding } from './hold.ts'
import { createMonitor } from './monitor.ts'
import type { WalletDeps } from './deps.ts'
import { createPayouts } from './payout.ts'
import { createReconciling } from './reconcile.ts'
import { createRecipients } from './recipient.ts'
import { createTreasurer } from './treasurer.ts'
import { createWithdrawals } from './withdraw.ts'

export function createWallets(deps: WalletDeps) {
  const { ledger, store, book, chains } = deps
  const depositAddress = createDepositAddress({ ...deps, store: store.addresses })
  const recipients = createRecipients(deps, depositAddress)
  const crediting = createCrediting(deps)
  const holding = createHolding(deps)
  const holderOf = createHolderOf(store)

  /** An agent sees only its own locks. The locks of others are only in the sum. */
  async function ownLocks({ agentId }: Caller, locks: readonly OpenLock[]): Promise<readonly OpenLock[]> {
    if (agentId === null || locks.length === 0) return locks
    const own = await deps.agentHolds.of(
      agentId,
      locks.map(({ id }) => id),
    )
    return locks.filter(({ id }) => own.has(id))
  }

  return {
    depositAddress,

    /** The address to send USDC to. Null when the server has no addresses. */
    async receiving(caller: Caller): Promise<ReceivingAddress | null> {
      const owner = ownerOf(caller)
      const address = await depositAddress(owner)
      if (address === null || book === null) return null
      const network = NETWORKS[NETWORK_OF[owner.environment]]
      const written = book.written(address)
      return { address: written, network: network.name, link: transferLink(network, written) }
    },

    async balance(caller: Caller): Promise<Wallet> {
      const owner = ownerOf(caller)
      const wallet = await ledger.wallet(owner)
      if (wallet === null) throw walletMissing()
      const address = await depositAddress(owner)
      const { funds } = wallet
      const locks = await ownLocks(caller, wallet.locks)
      return {
        userId: caller.subject,
        address: address === null || book === null ? null : book.written(address),
        balance: balanceOf(funds),
        available: funds.available,
        locks,
        locked: funds.locked,
        deposited: funds.deposited,
        spent: funds.spent,
      }
    },

    deposit: createDeposit(deps, crediting, depositAddress),
    withdrawals: createWithdrawals(deps, { recipients, holding }),
    /** For refunds, whose payouts have their ids. */
    refunds: {
      ...holding,
      payout: (id: string) => store.withdrawals.find(id),
      /** Whether what is paid to this address is credited to the owner. */
      async receives(inside: Statements, { userId, environment }: Owner, address: Address): Promise<boolean> {
        const holder = await holderOf(inside, address)
        return holder?.userId === userId && holder.environment === environment
      },
    },
    holderOf,
    recipients,
    alerts: createAlerts(deps),
    creditHinted: createHints(deps, crediting),

    /** The address that collects all deposits and pays all withdrawals. */
    treasury: (): Address | null => book?.treasury ?? null,
    /** Sends the money from the treasury with which other capabilities pay. */
    treasurer: createTreasurer(deps),

    // Run by the sweepers of a worker.
    payouts: createPayouts(deps),
    collecting: createCollecting(deps),
    reconciling: createReconciling(deps),
    cursors: store.cursors,
    monitors: book === null ? [] : [...chains.values()].map((chain) => createMonitor(deps, chain, crediting)),

    async transactions(
      caller: Caller,
      page: { limit: number; offset: number },
    ): Promise<{ transactions: Transaction[]; total: number }> {
      const { lines, total } = await ledger.statement(ownerOf(caller), page)
      const deposits = lines.filter(({ kind }) => kind === 'deposit')
      const sold = await deps.sales.among(
        ownerOf(caller),
        deposits.flatMap(({ reference }) => (reference === null ? [] : [reference])),
      )
      const transactions = lines.map((line) => ({
        id: line.movementId,
        type: typeOf(line, sold),
        amount: line.change,
        balanceAfter: line.balanceAfter,
        reference: line.reference,
        at: line.at,
      }))
      return { transactions, total }
    },

    async days(caller: Caller, since: Date) {
      const owner = ownerOf(caller)
      // A transfer needs some confirmations, so a sale of the day before may be credited on the first day.
      const sold = await deps.sales.since(owner, new Date(since.getTime() - DAY_MS))
      return await ledger.days(owner, since, sold)
    },

    async credits(caller: Caller): Promise<Credits> {
      const funds = await ledger.credits(ownerOf(caller))
      if (funds === null) throw walletMissing()
      const { userId, environment } = ownerOf(caller)
      const isWithheld =
        environment === 'production' && funds.deposited === 0n && (await deps.signUpCredits.areWithheld(userId))
      const withheld = isWithheld ? 'sign_up_bound' : null
      return { balance: balanceOf(funds), granted: funds.deposited, spent: funds.spent, withheld }
    },
  }
}

/** Finds the account that is credited with what is paid to an address. */
function createHolderOf({ addresses }: Pick<WalletDeps['store'], 'addresses'>) {
  return async (inside: Statements, address: Address): Promise<Owner | null> => {
    const [found] = await addresses.findAll([address], inside)
    return found?.owner ?? null
  }
}

const DAY_MS = 86_400_000

export type Wallets = ReturnType<typeof createWallets>

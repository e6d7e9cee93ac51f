import type { Hex } from '../../chain/model.ts'
import { networkOf, newestConfirmed } from '../../chain/networks.ts'
import { DomainError } from '../../kit/errors.ts'
import { usdc, type Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Credit } from '../../ledger/model.ts'
import type { Owner } from '../../kit/owner.ts'
import { NETWORK_OF, PLATFORM, type Transfer } from '../model.ts'
import { transfersOf } from '../rules.ts'
import type { WalletDeps } from './deps.ts'

/** Credits every deposit on chain, whether the API, the monitor or the identity provider found it. */
export function createCrediting(deps: WalletDeps) {
  const { ledger, store, book, chains, clock, settings } = deps

  /**
   * Credits proven transfers of one owner, each once and all in one transaction. Null when every one was recorded
   * before.
   */
  async function credit(transfers: readonly Transfer[], owner: Owner, act: string) {
    return await store.together(async (inside) => {
      let last: { balanceAfter: Usdc | null } | null = null
      for (const transfer of transfers) last = (await creditOne(transfer, owner, act, inside)) ?? last
      return last
    })
  }

  async function creditOne(transfer: Transfer, owner: Owner, act: string, inside: Statements) {
    // Sandbox: a claim about this transaction was credited before, so the transaction itself is not credited again.
    const isClaimed = owner.environment === 'sandbox' && (await hasClaim(transfer.transactionHash, owner, inside))
    const deposit = { transfer, owner, act: isClaimed ? CLAIMED : act, now: clock.now() }
    if (!(await store.deposits.record(inside, deposit))) return null
    if (isClaimed || owner.userId === PLATFORM) return { balanceAfter: null }
    return await ledger.credit(toCredit(transfer, owner, act), inside)
  }

  async function hasClaim(hash: Hex, owner: Owner, inside: Statements): Promise<boolean> {
    await store.deposits.lockHash(hash, inside)
    return (await store.deposits.claimantOf(hash, inside)) === owner.userId
  }

  /** The owner of each transfer. Transfers to other addresses, and our own sweeps, have none. */
  async function ownersOf(transfers: readonly Transfer[]): Promise<ReadonlyMap<Transfer, Owner>> {
    const named = transfers.flatMap(({ from, to }) => [from, to])
    const known = new Map((await store.addresses.findAll([...new Set(named)])).map((one) => [one.address, one]))
    const owners = new Map<Transfer, Owner>()
    for (const transfer of transfers) {
      const found = known.get(transfer.to)
      if (found !== undefined && NETWORK_OF[found.owner.environment] === transfer.network) {
        owners.set(transfer, found.owner)
      } else if (transfer.to === book?.treasury && !known.has(transfer.from)) {
        owners.set(transfer, { userId: PLATFORM, environment: environmentOf(transfer.network) })
      }
    }
    return owners
  }

  return {
    credit,

    /** A repetition of the same act returns its first result. */
    async replay(transfer: Transfer, owner: Owner, act: string): Promise<Usdc> {
      return (await ledger.credit(toCredit(transfer, owner, act))).balanceAfter
    },

    /**
     * Credits all transfers of a transaction to our addresses. Returns how many. Null while the transaction has too few
     * confirmations.
     */
    async creditTransaction(network: Transfer['network'], hash: Hex, act: string): Promise<number | null> {
      const chain = chains.get(network)
      const receipt = await chain?.receipt(hash)
      if (chain === undefined || receipt === undefined || receipt === null) return null
      const { number: head } = await chain.head()
      if (receipt.blockNumber > newestConfirmed(head, settings.confirmations)) return null
      let credited = 0
      for (const [transfer, owner] of await ownersOf(transfersOf(network, receipt))) {
        if ((await credit([transfer], owner, act)) !== null) credited++
      }
      return credited
    },
  }
}

export type Crediting = ReturnType<typeof createCrediting>

/** The act of a transfer that was found on chain after its owner had claimed it. */
const CLAIMED = 'said'

function toCredit(transfer: Transfer, owner: Owner, act: string): Credit {
  const { network, transactionHash, place, value } = transfer
  const id = `deposit.${network}.${transactionHash}.${place}`
  return { id, kind: 'deposit', owner, amount: usdc(value), reference: transactionHash, act }
}

function environmentOf(network: Transfer['network']): Owner['environment'] {
  return network === NETWORK_OF.production ? 'production' : 'sandbox'
}

/**
 * Credits the deposits of a transaction that a message names. The message is only a hint: the deposits are read from the
 * chain like any other, and credited to the owners of their addresses. A repeated hint, or one about a transaction that
 * is not a deposit, changes nothing. Returns how many were credited.
 */
export function createHints({ chains, log, measures }: WalletDeps, crediting: Crediting) {
  return async function creditHinted(hash: Hex, named: string | null): Promise<number> {
    const known = networkOf(named ?? '')?.name
    let credited = 0
    for (const network of known === undefined ? chains.keys() : [known]) {
      try {
        credited += (await crediting.creditTransaction(network, hash, 'hook')) ?? 0
      } catch (error) {
        // The monitor will find the deposit, so the provider need not send the message again.
        if (!(error instanceof DomainError) || error.kind !== 'unavailable') throw error
        log.warn({ network, hash }, 'a deposit that the identity provider reported could not be checked')
      }
    }
    measures.count('deposit_hinted')
    return credited
  }
}

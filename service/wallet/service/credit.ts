import type { Hex } from '../../chain/model.ts'
import { usdc, type Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Credit } from '../../ledger/model.ts'
import type { Owner } from '../../kit/owner.ts'
import { NETWORK_OF, PLATFORM, type Transfer } from '../model.ts'
import { deepEnough, transfersOf } from '../rules.ts'
import type { WalletDeps } from './parts.ts'

/** The one way in for what came over the chain, whoever found it: API, monitor or identity provider. */
export interface Crediting {
  /**
   * Credits proven transfers of one owner, each once and all in one transaction. Null when every one was recorded
   * before, by whichever of the three.
   */
  credit(transfers: readonly Transfer[], owner: Owner, act: string): Promise<{ balanceAfter: Usdc | null } | null>
  /** The same act asking again: the answer that it got. */
  again(transfer: Transfer, owner: Owner, act: string): Promise<Usdc>
  /** All transfers of a transaction to addresses of ours. Answers how many; null while it is not deep enough. */
  creditTransaction(network: Transfer['network'], hash: Hex, act: string): Promise<number | null>
}

export function createCrediting(deps: WalletDeps): Crediting {
  const { ledger, store, book, chains, clock, settings } = deps

  async function credit(transfers: readonly Transfer[], owner: Owner, act: string) {
    return await store.together(async (inside) => {
      let last: { balanceAfter: Usdc | null } | null = null
      for (const transfer of transfers) last = (await creditOne(transfer, owner, act, inside)) ?? last
      return last
    })
  }

  async function creditOne(transfer: Transfer, owner: Owner, act: string, inside: Statements) {
    // Play money that was given for the word about this very transaction is not given again for the transaction.
    const said = owner.environment === 'sandbox' && (await isSaid(transfer.transactionHash, owner, inside))
    if (!(await store.deposits.record(transfer, owner, said ? SAID : act, clock.now(), inside))) return null
    if (said || owner.userId === PLATFORM) return { balanceAfter: null }
    return await ledger.credit(toCredit(transfer, owner, act), inside)
  }

  async function isSaid(hash: Hex, owner: Owner, inside: Statements): Promise<boolean> {
    await store.deposits.lockHash(hash, inside)
    return (await store.deposits.saidBy(hash, inside)) === owner.userId
  }

  /** Whose a transfer is; null where it is none of ours or only changes the pocket. */
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

    async again(transfer, owner, act) {
      return (await ledger.credit(toCredit(transfer, owner, act))).balanceAfter
    },

    async creditTransaction(network, hash, act) {
      const chain = chains.get(network)
      const receipt = await chain?.receipt(hash)
      if (chain === undefined || receipt === undefined || receipt === null) return null
      const { number: head } = await chain.head()
      if (receipt.blockNumber > deepEnough(head, settings.confirmations)) return null
      let credited = 0
      for (const [transfer, owner] of await ownersOf(transfersOf(network, receipt))) {
        if ((await credit([transfer], owner, act)) !== null) credited++
      }
      return credited
    },
  }
}

/** The act of a transfer that was found on chain after its owner had said it. */
const SAID = 'said'

function toCredit(transfer: Transfer, owner: Owner, act: string): Credit {
  const { network, transactionHash, place, value } = transfer
  const id = `deposit.${network}.${transactionHash}.${place}`
  return { id, kind: 'deposit', owner, amount: usdc(value), reference: transactionHash, act }
}

function environmentOf(network: Transfer['network']): Owner['environment'] {
  return network === NETWORK_OF.production ? 'production' : 'sandbox'
}

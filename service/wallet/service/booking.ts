import type { Address, Chain, Hex, Receipt } from '../../chain/model.ts'
import { blockBeforeDump, type NetworkName } from '../../chain/networks.ts'
import { DomainError } from '../../kit/errors.ts'
import { newId } from '../../kit/ids.ts'
import { largest, usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Ledger } from '../../ledger/service.ts'
import { NETWORK_OF, PLATFORM, type Withdrawal } from '../model.ts'
import { PACE, type WalletDeps } from './deps.ts'
import { NEVER } from './hold.ts'

/**
 * What left the treasury and no row knows: after a restore, the payouts since the dump. An operator books each as the payout
 * that it was, with its nonce, so that nothing pays it a second time.
 */
export function createBooking({ ledger, store, book, chains, payers, clock }: BookingDeps) {
  /** All of the last weeks, the oldest first, on each network that has an RPC. */
  async function left(): Promise<Left[]> {
    if (book === null || chains.size === 0) throw refused('Nothing can be read: set BASE_RPC_URLS and WALLET_XPUB.')
    const found: Left[] = []
    for (const [network, chain] of chains) {
      found.push(...(await leftOn(network, chain, await sentFrom(chain, book.treasury))))
    }
    return found
  }

  async function leftOn(network: NetworkName, chain: Chain, hashes: readonly Hex[]): Promise<Left[]> {
    const treasury = book?.treasury
    if (treasury === undefined) return []
    const sent: Left[] = []
    for (const hash of hashes) {
      const receipt = await chain.receipt(hash)
      if (receipt === null)
        throw refused(`The node has no receipt of ${hash}: ask one that has all blocks of the last sixty days.`)
      if (receipt.status === 'success') sent.push(...sentIn(receipt, network, treasury))
    }
    const nonces = sent.flatMap(({ nonce }) => (nonce === null ? [] : [nonce]))
    const [rows, fundings] = await Promise.all([
      store.withdrawals.byNonces(nonces),
      payers.fundings(
        network,
        sent.map(({ hash }) => hash),
      ),
    ])
    const known = new Set(rows.filter(({ terms }) => terms !== null).map(({ nonce }) => nonce))
    return sent.filter(({ nonce }) => nonce === null || !(known.has(nonce) || fundings.has(nonce)))
  }

  /** In steps that the RPC accepts. It may refuse a too wide one with any error, also with one that means an outage elsewhere. */
  async function sentFrom(chain: Chain, by: Address): Promise<Hex[]> {
    const head = await chain.head()
    const hashes: Hex[] = []
    let width: bigint = PACE.searchMax
    for (let from = blockBeforeDump(head); from <= head.number;) {
      const upTo = from + width - 1n < head.number ? from + width - 1n : head.number
      try {
        hashes.push(...(await chain.transfersFrom({ by, from, upTo })))
        from = upTo + 1n
      } catch (error) {
        const mayBeTooWide = error instanceof DomainError && error.kind === 'unavailable'
        if (!mayBeTooWide || width === 1n) throw error
        width = largest(1n, width / 4n)
      }
    }
    return hashes
  }

  /** The one of the transaction that no row explains, or the one with this nonce. Amount and recipient are the chain's. */
  async function find(hash: Hex, nonce: string | null): Promise<Left & { nonce: Hex }> {
    for (const [network, chain] of chains) {
      if ((await chain.receipt(hash)) === null) continue
      const all = await leftOn(network, chain, [hash])
      const meant = all.filter((one) => one.nonce !== null && (nonce === null || one.nonce === nonce))
      const [one, another] = meant
      if (one?.nonce == null) throw refused('No transfer out of the treasury in it is left to book.')
      if (another !== undefined) throw refused('It has several that are left: name the nonce of one of them.')
      return { ...one, nonce: one.nonce }
    }
    throw refused('It is in no block of the networks that this server has an RPC for.')
  }

  return {
    left,

    /**
     * Once, as paid. The account must still have the money, which a restored database says it has. Where the account asked for
     * it again meanwhile, it is that payout which ends. What no account can pay for any more, because it was earned after the
     * dump, is a loss of the operator: its row is the platform's, and its amount leaves the capital instead of a balance.
     */
    async withdrawal(hash: Hex, userId: string, nonce: string | null): Promise<Withdrawal> {
      const { network, to, amount: value, block, ...sent } = await find(hash, nonce)
      const payer = book?.treasury
      if (payer === undefined) throw refused('This server has no treasury: WALLET_XPUB must be set.')
      const environment: Environment = network === NETWORK_OF.production ? 'production' : 'sandbox'
      const owner = { userId, environment }
      const amount = usdc(value)
      const now = clock.now()
      const isLoss = userId === PLATFORM
      if (!isLoss && (await ledger.wallet(owner)) === null)
        throw refused(`No account of ${environment} has the id ${userId}.`)
      return await store.together(async (inside) => {
        const [waiting] = await store.withdrawals.byNonces([sent.nonce], inside)
        const id = waiting?.id ?? newId('wdr', now)
        if (waiting === undefined) {
          const hold = { id, owner, amount, useCredits: false, deadline: NEVER, reference: to }
          if (!isLoss) await ledger.reserve(hold, inside)
          const row = { id, kind: 'withdrawal', owner, network, to, amount, nonce: sent.nonce } as const
          await store.withdrawals.add({ ...row, simulated: false, now }, inside)
        } else if (waiting.owner.userId !== userId || waiting.to !== to || waiting.amount !== amount) {
          throw refused(`Its nonce is that of ${id}, which ${waiting.owner.userId} asked for.`)
        }
        // Over for good: nothing signs it again.
        const terms = { payer, validBefore: BigInt(Math.floor(now.getTime() / 1_000)), seenBlock: block - 1n }
        const submitted = await store.withdrawals.submit(inside, { id, terms, now })
        if (submitted === null) throw refused(`The payout ${id} has ended already.`)
        const how = { state: 'confirmed', transactionHash: hash, blockNumber: block } as const
        const ended = await store.withdrawals.end(inside, { id, from: 'submitted', how, now })
        if (ended === null) throw new Error('a submitted payout was not there')
        if (isLoss) return ended
        const shares = [{ to: { platform: 'treasury' as const }, amount }]
        const capture = { hold: id, owner, amount, shares, reference: hash, announcements: [] }
        await ledger.capture({ ...capture, kind: 'payout' }, inside)
        return ended
      })
    },
  }
}

export type Booking = ReturnType<typeof createBooking>

/** A transfer out of the treasury. */
export interface Left {
  network: NetworkName
  hash: Hex
  block: bigint
  to: Address
  amount: bigint
  /** Null where the treasury's own key sent it, and no authorization. */
  nonce: Hex | null
}

export interface BookingDeps extends Pick<WalletDeps, 'book' | 'chains' | 'payers' | 'clock'> {
  store: Pick<WalletDeps['store'], 'withdrawals' | 'together'>
  ledger: Pick<Ledger, 'wallet' | 'reserve' | 'capture'>
}

/** USDC marks the nonce as used, and then moves the money: the next transfer is the nonce's. */
function sentIn(receipt: Receipt, network: NetworkName, treasury: Address): Left[] {
  const { hash, blockNumber: block, transfers, used } = receipt
  return transfers.flatMap(({ from, to, value: amount, logIndex }) => {
    if (from !== treasury || amount === 0n) return []
    const own = used.find((one) => one.authorizer === treasury && one.logIndex === logIndex - 1)
    return [{ network, hash, block, to, amount, nonce: own?.nonce ?? null }]
  })
}

function refused(sentence: string): DomainError {
  return new DomainError('conflict', 'booking_refused', sentence)
}

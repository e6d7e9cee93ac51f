import type { Address, Call, Chain, Fees, Hex } from '../../chain/model.ts'
import type { SponsorTransaction, Settlement } from '../model.ts'
import { bumpFees, isNothing } from '../rules.ts'
import { judge } from './judge.ts'
import { PACE, type FacilitatorDeps } from './deps.ts'

/** Signs and sends with a sponsor's key, and counts its nonces, while its worker holds the lease. */
export async function createSender(
  deps: FacilitatorDeps,
  chain: Chain,
  { key, sponsor, workerId }: { key: Hex; sponsor: Address; workerId: string },
) {
  const { store, clock, log } = deps
  const network = chain.network.name
  let next = await nextNonce(deps, chain, sponsor)
  /** When a foreign transaction was first seen under a nonce of ours. */
  const foreign = new Map<bigint, number>()
  const triedAt = new Map<bigint, number>()
  const stuck = createRescue(deps, chain, { key, isForeign, resend })
  /** Over when all that was sent is recorded as such. */
  let recording = Promise.resolve()

  /** Stores a transaction for these settlements. Null when they no longer belong to this worker. */
  async function sign(call: Call, gas: bigint, items: readonly Settlement[]): Promise<SponsorTransaction | null> {
    const fees = await chain.fees()
    for (let attempt = 0; attempt < 3; attempt++) {
      const signing = signed(call, gas, fees, next)
      const stored = await store.sign({ ...signing, workerId, digests: items.map(({ digest }) => digest) })
      if (typeof stored === 'object') {
        next++
        await deps.failpoints.reach('transaction signed')
        return stored
      }
      if (stored === 'settlements-gone') return null
      next = await nextNonce(deps, chain, sponsor)
    }
    return null
  }

  function signed(call: Call, gas: bigint, fees: Fees, nonce: number) {
    const { hash, raw } = chain.signTransaction({ key, nonce, gas, fees, ...call })
    return { network, sponsor, nonce, target: call.to, data: call.data, gas, fees, hash, raw, now: clock.now() }
  }

  /**
   * Never throws: the transaction is stored and is sent again later. Null when no node took it, or when it has other
   * fees now.
   */
  async function broadcast(transaction: SponsorTransaction): Promise<SponsorTransaction | null> {
    triedAt.set(transaction.id, clock.now().getTime())
    try {
      await chain.broadcast(transaction.raw)
      stuck.accepted(transaction)
    } catch (error) {
      const { code } = error as { code?: unknown }
      log.warn({ network, hash: transaction.hash, code }, 'a transaction could not be sent; retrying')
      deps.measures.count(`broadcast ${String(code)}`)
      stuck.refused(transaction, code)
      if (code === 'replacement_underpriced' || code === 'fee_too_low') await raise(deps, chain, key, transaction)
      return null
    }
    await deps.failpoints.reach('transaction sent')
    const sentAt = clock.now()
    recording = recordSent(transaction, sentAt, recording)
    return { ...transaction, state: 'broadcast', sentAt }
  }

  /** Beside the question for its block. Without the record, the transaction is sent once more. */
  async function recordSent(transaction: SponsorTransaction, at: Date, before: Promise<void>): Promise<void> {
    try {
      await store.sent(transaction, at)
      await deps.failpoints.reach('transaction broadcast')
    } catch (error) {
      log.warn({ err: error, network, hash: transaction.hash }, 'that a transaction was sent could not be recorded')
    }
    await before
  }

  /**
   * Whether the key was used elsewhere. The settlements of the lost transaction are then judged, and sent under another
   * nonce.
   */
  async function isForeign(transaction: SponsorTransaction, now: number): Promise<boolean> {
    if ((await chain.nonceOf(sponsor, 'latest')) <= transaction.nonce) return false
    const since = foreign.get(transaction.id) ?? now
    foreign.set(transaction.id, since)
    // Nodes lag behind each other: one may know the nonce while another does not have the receipt yet.
    if (now - since < PACE.lostMs) return true
    log.error(
      { network, sponsor, nonce: transaction.nonce },
      "a sponsor's nonce was used by a transaction that is not ours",
    )
    for (const settlement of await store.carried(transaction)) await judge(deps, chain, settlement, 'among-others')
    if (!(await store.lose(transaction))) return true
    foreign.delete(transaction.id)
    next = await nextNonce(deps, chain, sponsor)
    return true
  }

  /** Sends it again if it was never sent, or if the node has dropped it. */
  async function resend(transaction: SponsorTransaction): Promise<void> {
    const now = clock.now().getTime()
    if (now - (triedAt.get(transaction.id) ?? 0) < (transaction.state === 'signed' ? PACE.recheckMs : PACE.resendMs))
      return
    triedAt.set(transaction.id, now)
    if (transaction.state === 'broadcast' && (await chain.isKnown(transaction.hash))) return
    await broadcast(transaction)
  }

  return {
    sign,
    send: broadcast,
    push: (transaction: SponsorTransaction) => stuck.push(transaction),
    resend,
    recorded: () => recording,
    /** Uses a nonce that was never signed, by a transfer of nothing to the sponsor itself. */
    async fill(nonce: number): Promise<void> {
      log.warn({ network, sponsor, nonce }, 'a nonce gap is filled')
      const transaction = await store.fill(
        signed({ to: sponsor, data: NOTHING.data }, NOTHING.gas, await chain.fees(), nonce),
      )
      if (transaction !== null) await broadcast(transaction)
    },
  }
}

/**
 * The database knows transactions that no node has seen yet. The node knows transactions that an operator sent by hand.
 */
async function nextNonce({ store }: FacilitatorDeps, chain: Chain, sponsor: Address): Promise<number> {
  const own = await store.highestNonce(chain.network.name, sponsor)
  return Math.max((own ?? -1) + 1, await chain.nonceOf(sponsor, 'pending'))
}

export type Sender = Awaited<ReturnType<typeof createSender>>

/** For the transaction that all others of its sponsor wait for. */
function createRescue(deps: FacilitatorDeps, chain: Chain, { key, isForeign, resend }: RescueDeps) {
  const { clock, log } = deps
  /** Since when no node has taken a transaction. */
  const refusedSince = new Map<bigint, number>()
  /** The newest block when a transaction whose fees are not raised any more was seen waiting first. */
  const passedSince = new Map<bigint, bigint>()

  /** Sends it again, raises its fees, or gives it up with its nonce. */
  async function push(transaction: SponsorTransaction): Promise<void> {
    const { id, state, sentAt, bumps } = transaction
    const now = clock.now().getTime()
    const ageMs = state === 'broadcast' && sentAt !== null ? now - sentAt.getTime() : 0
    const refusedMs = now - (refusedSince.get(id) ?? now)
    if (Math.max(ageMs, refusedMs) >= PACE.resendMs && (await isForeign(transaction, now))) return
    if (refusedMs >= PACE.refusedMs && !isNothing(transaction)) return await giveUp(transaction)
    if (ageMs < deps.settings.bumpAfterMs) return await resend(transaction)
    if (bumps < BUMPS_MAX) return await raise(deps, chain, key, transaction)
    // Nodes have it, but no block takes it. While the chain stands still, nothing is given up.
    const { number } = await chain.head()
    const since = passedSince.get(id) ?? number
    passedSince.set(id, since)
    if (number - since >= PACE.passedBlocks && !isNothing(transaction)) await giveUp(transaction)
    else await resend(transaction)
  }

  /**
   * Replaces it by a transfer of nothing to the sponsor itself. Nothing is judged yet: whichever of the two is mined
   * decides about what it carried.
   */
  async function giveUp(transaction: SponsorTransaction): Promise<void> {
    const { id, network, sponsor, nonce, hash } = transaction
    log.error({ network, sponsor, nonce, hash }, 'no node or no block takes a transaction, so its nonce is given up')
    deps.measures.count('nonces_given_up')
    refusedSince.delete(id)
    passedSince.delete(id)
    await replace(deps, chain, key, { ...transaction, ...NOTHING, target: sponsor, bumps: -1 })
  }

  return {
    push,
    accepted: ({ id }: SponsorTransaction) => refusedSince.delete(id),
    refused({ id }: SponsorTransaction, code: unknown): void {
      if (REFUSALS.has(code)) refusedSince.set(id, refusedSince.get(id) ?? clock.now().getTime())
    },
  }
}

interface RescueDeps {
  key: Hex
  /** Whether the nonce went to a transaction that is not ours. */
  isForeign: (transaction: SponsorTransaction, now: number) => Promise<boolean>
  resend: (transaction: SponsorTransaction) => Promise<void>
}

/** Raises the fees. The number of raises is limited. */
async function raise(deps: FacilitatorDeps, chain: Chain, key: Hex, transaction: SponsorTransaction): Promise<void> {
  if (transaction.bumps >= BUMPS_MAX) return
  await replace(deps, chain, key, transaction)
  deps.measures.count('fees_raised')
}

/** Signs it with higher fees under the same nonce, so only one of the two can be mined. */
async function replace(deps: FacilitatorDeps, chain: Chain, key: Hex, transaction: SponsorTransaction): Promise<void> {
  const { store, clock, log } = deps
  const fees: Fees = bumpFees(transaction, await chain.fees())
  const { target, data, gas, nonce, bumps } = transaction
  const { hash, raw } = chain.signTransaction({ key, nonce, gas, fees, to: target, data })
  await store.replace(transaction, { target, data, gas, bumps: bumps + 1, hash, raw, fees, now: clock.now() })
  await chain.broadcast(raw).then(
    () => store.sent(transaction, clock.now()),
    (error: unknown) => {
      log.warn(
        { network: chain.network.name, hash, code: (error as { code?: unknown }).code },
        'a replacement transaction could not be sent',
      )
    },
  )
}

const BUMPS_MAX = 12
/** What a node has against the transaction itself. A sponsor's empty account is filled again. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  'transaction_refused',
  'replacement_underpriced',
  'fee_too_low',
  'nonce_too_low',
])
const NOTHING = { data: '0x', gas: 21_000n } as const

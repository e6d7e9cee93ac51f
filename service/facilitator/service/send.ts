import type { Address, Call, Chain, Fees, Hex } from '../../chain/model.ts'
import type { SponsorTransaction, Settlement } from '../model.ts'
import { bumpFees } from '../rules.ts'
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
  let next = await countNonce()
  /** When a foreign transaction was first seen under a nonce of ours. */
  const foreign = new Map<bigint, number>()
  const triedAt = new Map<bigint, number>()

  /**
   * The database knows transactions that no node has seen yet. The node knows transactions that an operator sent by
   * hand.
   */
  async function countNonce(): Promise<number> {
    const own = await store.highestNonce(network, sponsor)
    return Math.max((own ?? -1) + 1, await chain.nonceOf(sponsor, 'pending'))
  }

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
      next = await countNonce()
    }
    return null
  }

  function signed(call: Call, gas: bigint, fees: Fees, nonce: number) {
    const { hash, raw } = chain.signTransaction({ key, nonce, gas, fees, ...call })
    return { network, sponsor, nonce, target: call.to, data: call.data, gas, fees, hash, raw, now: clock.now() }
  }

  /** Never throws: the transaction is stored and is sent again later. */
  async function broadcast(transaction: SponsorTransaction): Promise<void> {
    triedAt.set(transaction.id, clock.now().getTime())
    try {
      await chain.broadcast(transaction.raw)
    } catch (error) {
      const { code } = error as { code?: unknown }
      log.warn({ network, hash: transaction.hash, code }, 'a transaction could not be sent; retrying')
      deps.measures.count(`broadcast ${String(code)}`)
      if (code === 'replacement_underpriced' || code === 'fee_too_low') await raise(deps, chain, key, transaction)
      return
    }
    await deps.failpoints.reach('transaction sent')
    await store.sent(transaction, clock.now())
    await deps.failpoints.reach('transaction broadcast')
  }

  /** For the transaction that all others wait for: sends it again, raises its fees, or gives up its nonce. */
  async function push(transaction: SponsorTransaction): Promise<void> {
    const now = clock.now().getTime()
    if (transaction.state === 'broadcast' && transaction.sentAt !== null) {
      const age = now - transaction.sentAt.getTime()
      if (age >= PACE.resendMs && (await isForeign(transaction, now))) return
      if (age >= deps.settings.bumpAfterMs) return await raise(deps, chain, key, transaction)
    }
    await resend(transaction)
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
    next = await countNonce()
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
    push,
    resend,
    /** Uses a nonce that was never signed, by a transfer of nothing to the sponsor itself. */
    async fill(nonce: number): Promise<void> {
      log.warn({ network, sponsor, nonce }, 'a nonce gap is filled')
      const transaction = await store.fill(signed({ to: sponsor, data: '0x' }, 21_000n, await chain.fees(), nonce))
      if (transaction !== null) await broadcast(transaction)
    },
  }
}

export type Sender = Awaited<ReturnType<typeof createSender>>

/** Keeps the nonce and the call, so only one of the transactions can be mined. */
async function raise(deps: FacilitatorDeps, chain: Chain, key: Hex, transaction: SponsorTransaction): Promise<void> {
  const { store, clock, log } = deps
  if (transaction.bumps >= BUMPS_MAX) return
  const fees: Fees = bumpFees(transaction, await chain.fees())
  const { target, data, gas, nonce } = transaction
  const { hash, raw } = chain.signTransaction({ key, nonce, gas, fees, to: target, data })
  await store.replace(transaction, { hash, raw, fees, now: clock.now() })
  deps.measures.count('fees_raised')
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

import { randomUUID } from 'node:crypto'
import type { Chain, Hex } from '../../chain/model.ts'
import { ESCROW } from '../../chain/networks.ts'
import type { SponsorTransaction, Settlement } from '../model.ts'
import { gaps, gasLimit, plan } from '../rules.ts'
import type { Signal } from './signal.ts'
import { follow } from './follow.ts'
import type { GasWatch } from './gas.ts'
import { judge } from './judge.ts'
import { PACE, type FacilitatorDeps } from './deps.ts'
import { createSender, type Sender } from './send.ts'

/** One sponsor on one network. Only the worker with the lease signs with this key on that network. */
export function createSponsorWorker(
  deps: FacilitatorDeps,
  chain: Chain,
  key: Hex,
  { gas, ended }: { gas: GasWatch; ended: Signal },
) {
  const { store, clock } = deps
  const network = chain.network.name
  const sponsor = chain.addressOf(key)
  const workerId = randomUUID()
  const lease = deps.lease(`sponsor ${network} ${sponsor}`)
  let leasedUntil = 0
  let askAgainAt = 0
  /** Null while this process does not hold the lease, because the nonces it counted may be outdated. */
  let sender: Sender | null = null
  let transactions: readonly SponsorTransaction[] = []
  let checkedAt = 0

  /** One round: renews the lease, sends what waits, checks what is under way. */
  async function turn(): Promise<void> {
    if (!(await keepLease())) return
    sender ??= await createSender(deps, chain, { key, sponsor, workerId })
    await submit(sender)
    await lookAfter(sender)
  }

  async function keepLease(): Promise<boolean> {
    const now = clock.now()
    if (now.getTime() < leasedUntil - PACE.leaseMs / 2) return true
    if (leasedUntil === 0 && now.getTime() < askAgainAt) return false
    const held = await lease.take(now, new Date(now.getTime() + PACE.leaseMs))
    // Another process may have signed while the lease was not held, so the nonces are counted again.
    if (!held || now.getTime() >= leasedUntil) sender = null
    leasedUntil = held ? now.getTime() + PACE.leaseMs : 0
    askAgainAt = now.getTime() + PACE.recheckMs
    if (!held) transactions = []
    return held
  }

  async function submit(to: Sender): Promise<void> {
    transactions = await store.open(network, { sponsor })
    const inFlight = transactions.filter(({ state }) => state !== 'mined').length
    // It takes no settlements that it cannot pay for: another sponsor may, and a hash that no node knows is of no use.
    if (inFlight >= PACE.inFlightMax || gas.isEmpty(network, sponsor)) return
    const now = clock.now()
    const room = (PACE.inFlightMax - inFlight) * PACE.batchMax
    const until = new Date(now.getTime() + PACE.takenMs)
    const taken = await store.take(network, workerId, { sponsor, limit: Math.min(room, 200), now, until })
    const timely = taken.filter(
      ({ authorization }) => authorization.validBefore > BigInt(Math.floor(now.getTime() / 1000)),
    )
    for (const late of taken.filter((settlement) => !timely.includes(settlement)))
      await judge(deps, chain, late, 'waiting')
    // Signed one after the other, for the nonces. Sent at the same time, to save time.
    const sending: Promise<void>[] = []
    for (const group of plan(timely, PACE.batchMax).slice(0, PACE.inFlightMax - inFlight)) {
      const signed = await to.sign(callOf(group), gasLimit(group), group)
      if (signed !== null) sending.push(to.send(signed))
    }
    await Promise.all(sending)
    if (sending.length > 0) transactions = await store.open(network, { sponsor })
  }

  function callOf(group: readonly Settlement[]) {
    const [only, ...others] = group
    if (only?.escrow != null) return { to: ESCROW.address, data: only.escrow.data }
    return only !== undefined && others.length === 0
      ? chain.encodeTransfer(only.authorization, only.payerHasCode)
      : chain.encodeBatch(group.map(({ authorization }) => authorization))
  }

  async function lookAfter(to: Sender): Promise<void> {
    const now = clock.now().getTime()
    const waiting = transactions.filter(({ state }) => state !== 'mined')
    // In the order of their nonces: a transaction is mined only after those before it.
    for (const [place, transaction] of waiting.entries()) {
      if (await follow(deps, chain, transaction)) {
        ended.notify()
        continue
      }
      if (place > 0) await to.resend(transaction)
      else if (!(await repair(to, transaction))) await to.push(transaction)
      break
    }
    if (now - checkedAt < PACE.recheckMs) return
    checkedAt = now
    for (const transaction of transactions.filter(({ state }) => state === 'mined'))
      await follow(deps, chain, transaction)
  }

  /**
   * A nonce that was never signed, below the lowest open one, blocks all later transactions. It is looked for when the
   * lowest open transaction takes as long as one with too low fees. Returns whether there was such a nonce.
   */
  async function repair(to: Sender, lowest: SponsorTransaction): Promise<boolean> {
    const age = clock.now().getTime() - lowest.signedAt.getTime()
    if (age < deps.settings.bumpAfterMs) return false
    const missing = gaps(await chain.nonceOf(sponsor, 'latest'), [lowest.nonce])
    for (const nonce of missing) await to.fill(nonce)
    return missing.length > 0
  }

  return {
    sponsor,
    network,
    turn,
    /** Something is under way. The next block decides, so there is time to gather more. */
    busy: () => transactions.some(({ state }) => state !== 'mined'),
    async release() {
      sender = null
      leasedUntil = 0
      await lease.release()
    },
  }
}

export type SponsorWorker = ReturnType<typeof createSponsorWorker>

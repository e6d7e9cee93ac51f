import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Address, Chain, Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { SponsorTransaction, Settlement } from '../model.ts'
import { gaps, gasLimit, gatherMs, lookAgainMs, plan } from '../rules.ts'
import type { Lease } from '../ports.ts'
import type { Signals } from './signal.ts'
import { follow } from './follow.ts'
import type { GasWatch } from './gas.ts'
import { PACE, type FacilitatorDeps } from './deps.ts'
import { createSender, type Sender } from './send.ts'

/** One sponsor on one network. Only the worker with the lease signs with this key on that network. */
export class SponsorWorker {
  readonly network: NetworkName
  readonly sponsor: Address
  private readonly deps: FacilitatorDeps
  private readonly chain: Chain
  private readonly key: Hex
  private readonly gas: GasWatch
  private readonly signals: Signals
  private readonly workerId = randomUUID()
  private readonly lease: Lease
  private leasedUntil = 0
  private askAgainAt = 0
  /** Null while this process does not hold the lease, because the nonces it counted may be outdated. */
  private sender: Sender | null = null
  private transactions: readonly SponsorTransaction[] = []
  /** Those that are in no block yet, in the order of their nonces: a transaction is mined only after those before it. */
  private waiting: readonly SponsorTransaction[] = []
  /** When a transaction was sent first, by this process's own clock: only the pace depends on it. */
  private readonly sentAt = new Map<bigint, number>()
  private checkedAt = 0
  private rechecking: Promise<unknown> | null = null
  private readAt = 0
  /** How many claims were reported when the last ones were taken, and how many were taken last. */
  private claimsSeen = 0
  private takenLast = 0

  constructor(deps: FacilitatorDeps, chain: Chain, key: Hex, { gas, signals }: { gas: GasWatch; signals: Signals }) {
    this.deps = deps
    this.chain = chain
    this.key = key
    this.gas = gas
    this.signals = signals
    this.network = chain.network.name
    this.sponsor = chain.addressOf(key)
    this.lease = deps.lease(`sponsor ${this.network} ${this.sponsor}`)
  }

  /** One round: renews the lease, sends what waits, checks what is under way. */
  async turn(): Promise<void> {
    this.claimsSeen = this.signals.claimed.count
    if (!(await this.keepLease())) return
    const { key, sponsor, workerId } = this
    this.sender ??= await createSender(this.deps, this.chain, { key, sponsor, workerId })
    await this.submit(this.sender)
    await this.lookAfter(this.sender)
  }

  private async keepLease(): Promise<boolean> {
    const now = this.deps.clock.now()
    if (now.getTime() < this.leasedUntil - PACE.leaseMs / 2) return true
    if (this.leasedUntil === 0 && now.getTime() < this.askAgainAt) return false
    const held = await this.lease.take(now, new Date(now.getTime() + PACE.leaseMs))
    // Another process may have signed while the lease was not held, so the nonces are counted again.
    if (!held || now.getTime() >= this.leasedUntil) this.sender = null
    this.leasedUntil = held ? now.getTime() + PACE.leaseMs : 0
    if (this.sender === null) this.readAt = 0
    this.askAgainAt = now.getTime() + PACE.recheckMs
    if (!held) {
      this.transactions = []
      this.waiting = []
    }
    return held
  }

  private async submit(to: Sender): Promise<void> {
    // No other process signs with this key, so what was read a moment ago is still so.
    if (performance.now() - this.readAt >= PACE.turnMs) await this.read()
    const inFlight = this.waiting.length
    // It takes no settlements that it cannot pay for: another sponsor may, and a hash that no node knows is of no use.
    if (inFlight >= PACE.inFlightMax || this.gas.isEmpty(this.network, this.sponsor)) return
    const now = this.deps.clock.now()
    const room = (PACE.inFlightMax - inFlight) * PACE.batchMax
    const until = new Date(now.getTime() + PACE.takenMs)
    const taken = await this.deps.store.take(this.network, this.workerId, {
      sponsor: this.sponsor,
      limit: Math.min(room, 200),
      now,
      until,
    })
    if (taken.length > 0) this.takenLast = taken.length
    // Signed one after the other, for the nonces. Sent at the same time, to save time.
    const sending: Promise<SponsorTransaction | null>[] = []
    for (const group of plan(taken, PACE.batchMax).slice(0, PACE.inFlightMax - inFlight)) {
      const signed = await to.sign(this.callOf(group), gasLimit(group), group)
      if (signed === null) continue
      this.sentAt.set(signed.id, performance.now())
      sending.push(to.send(signed))
    }
    const sent = (await Promise.all(sending)).filter((transaction) => transaction !== null)
    this.transactions = [...this.transactions, ...sent]
    this.waiting = [...this.waiting, ...sent]
    if (sent.length < sending.length) await this.read()
  }

  private async read(): Promise<void> {
    this.readAt = performance.now()
    this.transactions = await this.deps.store.open(this.network, { sponsor: this.sponsor })
    this.waiting = this.transactions.filter(({ state }) => state !== 'mined')
    const ids = new Set(this.waiting.map(({ id }) => id))
    for (const id of this.sentAt.keys()) if (!ids.has(id)) this.sentAt.delete(id)
  }

  private callOf(group: readonly Settlement[]) {
    const [only, ...others] = group
    return only !== undefined && others.length === 0
      ? this.deps.schemes.of(only).callOf(this.chain, only)
      : this.chain.encodeBatch(group.map(({ authorization }) => authorization))
  }

  private async lookAfter(to: Sender): Promise<void> {
    const now = this.deps.clock.now().getTime()
    const [first] = this.waiting
    const lowest = await this.look()
    if (lowest !== undefined && lowest !== first) await to.resend(lowest)
    else if (lowest !== undefined && !(await this.repair(to, lowest))) await to.push(lowest)
    // It may have other hashes and fees now.
    if (lowest !== undefined) this.readAt = 0
    if (now - this.checkedAt < PACE.recheckMs || this.rechecking !== null) return
    this.checkedAt = now
    this.rechecking = this.recheck().finally(() => (this.rechecking = null))
  }

  /** Runs beside the turns: what waits for its block does not wait for the blocks before it to become final. */
  private async recheck(): Promise<void> {
    try {
      for (const transaction of this.transactions.filter(({ state }) => state === 'mined'))
        await follow(this.deps, this.chain, transaction)
    } catch (error) {
      const { network, sponsor } = this
      this.deps.log.warn({ err: error, network, sponsor }, 'mined transactions could not be checked again; retrying')
    }
  }

  /** Stores what blocks have of the transactions that wait. Returns the lowest one that none has. */
  private async look(): Promise<SponsorTransaction | undefined> {
    for (;;) {
      const [lowest, ...others] = this.waiting
      if (lowest === undefined) return undefined
      const mined = await follow(this.deps, this.chain, lowest)
      if (mined === null) return lowest
      this.waiting = others
      for (const settlement of mined.settled) this.signals.ended.notify(settlement.digest, settlement)
      if (!mined.isComplete) this.signals.ended.notifyAll()
    }
  }

  /**
   * Waits until the next turn is due. While a transaction is under way, what is claimed gathers until the chain has it;
   * with none under way, a claim is sent at once, together with those that are claimed in the same moment.
   */
  async rest(): Promise<void> {
    const until = performance.now() + PACE.turnMs
    for (let [lowest] = this.waiting; lowest !== undefined; lowest = await this.look()) {
      const leftMs = until - performance.now()
      if (leftMs <= 0) return
      const ageMs = performance.now() - (this.sentAt.get(lowest.id) ?? 0)
      await pause(Math.min(lookAgainMs(ageMs, PACE.turnMs), leftMs))
    }
    await this.signals.claimed.wait(until - performance.now(), this.claimsSeen)
    await this.gather()
  }

  private async gather(): Promise<void> {
    const began = performance.now()
    let claims = 0
    let quietSince = began
    for (;;) {
      const now = performance.now()
      const checked = this.signals.arrivals.checked.count
      if (this.signals.claimed.count - this.claimsSeen !== claims) quietSince = now
      claims = this.signals.claimed.count - this.claimsSeen
      const [quietMs, waitedMs] = [now - quietSince, now - began]
      const seen = { claims, arriving: this.signals.arrivals.count(this.network), takenLast: this.takenLast }
      const waitMs = gatherMs({ ...seen, quietMs, waitedMs }, PACE)
      if (waitMs <= 0) return
      await this.signals.arrivals.checked.wait(waitMs, checked)
    }
  }

  /**
   * A nonce that was never signed, below the lowest open one, blocks all later transactions. It is looked for when the
   * lowest open transaction takes as long as one with too low fees. Returns whether there was such a nonce.
   */
  private async repair(to: Sender, lowest: SponsorTransaction): Promise<boolean> {
    const age = this.deps.clock.now().getTime() - lowest.signedAt.getTime()
    if (age < this.deps.settings.bumpAfterMs) return false
    const missing = gaps(await this.chain.nonceOf(this.sponsor, 'latest'), [lowest.nonce])
    for (const nonce of missing) await to.fill(nonce)
    return missing.length > 0
  }

  /** An error here changes nothing: the lease ends by itself. */
  async release(): Promise<void> {
    await Promise.all([this.rechecking, this.sender?.recorded()])
    this.sender = null
    this.leasedUntil = 0
    await this.lease.release()
  }
}

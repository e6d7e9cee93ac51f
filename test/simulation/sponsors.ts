import { PACE } from '../../service/facilitator/service/deps.ts'
import { percentile, Queue } from './queue.ts'

/**
 * Settlements on one network, as the facilitator's sponsor workers make them: each sponsor takes claimed payments, puts
 * them together in transactions, and has a limited number of these pending; a block takes the oldest as far as our part
 * of its gas goes. Blocks come evenly, nodes respond, other senders do not outbid us: what is left is queueing
 * arithmetic.
 */
export function simulateSponsors(setting: Setting): Outcome {
  const { sponsors, load, random } = setting
  const workers = Array.from({ length: sponsors }, (_, place) => ({
    underWay: 0,
    turnAt: (place * TURN_MS) / sponsors,
  }))
  const claimed = new Queue<number>()
  const sent = new Queue<Transaction>()
  const waits: number[] = []
  const sizes: number[] = []
  const blockMs = setting.blockSeconds * 1000
  const end = setting.seconds * 1000
  let gasUsed = 0
  let blocks = 0
  let counted = 0
  let held: Transaction | undefined

  let nextArrival = 0
  if (load.kind === 'closed') for (let caller = 0; caller < load.callers; caller++) claimed.push(0)
  const arrive = (until: number): void => {
    if (load.kind === 'closed') return
    while (nextArrival <= until) {
      claimed.push(nextArrival)
      nextArrival += (-Math.log(1 - random()) / load.perSecond) * 1000
    }
  }

  const mine = (at: number): void => {
    let gas = 0
    while (held !== undefined || sent.length > 0) {
      const transaction = held ?? sent.take(1)[0]!
      held = undefined
      // Sent too late for this block, or no room left in it: it comes first in the next one.
      if (transaction.sentAt > at - REACH_MS || gas + transaction.gas > setting.gasPerBlock) {
        held = transaction
        break
      }
      gas += transaction.gas
      transaction.worker.underWay--
      for (const since of transaction.payments) {
        if (at > end / 4) waits.push(at + LOOK_MS - since)
        if (load.kind === 'closed') claimed.push(at + LOOK_MS)
      }
    }
    gasUsed += gas
    blocks++
    // The time before the queues have filled up is not counted.
    if (at > end / 4) counted++
  }

  for (let now = 0, nextBlock = blockMs; now <= end; now += STEP_MS) {
    arrive(now)
    for (const worker of workers) {
      if (now < worker.turnAt) continue
      worker.turnAt = now + TURN_MS
      const room = (PACE.inFlightMax - worker.underWay) * PACE.batchMax
      const payments = claimed.take(Math.min(room, TAKEN_MOST))
      const batches = Math.ceil(payments.length / PACE.batchMax)
      const size = Math.ceil(payments.length / Math.max(1, batches))
      for (let at = 0; at < payments.length; at += size) {
        const group = payments.slice(at, at + size)
        sent.push({ worker, payments: group, sentAt: now + SEND_MS, gas: gasOf(group.length) })
        sizes.push(group.length)
        worker.underWay++
      }
    }
    if (now >= nextBlock) {
      mine(nextBlock)
      nextBlock += blockMs
    }
  }
  return {
    perSecond: waits.length / (counted * setting.blockSeconds),
    p50: percentile(waits, 0.5),
    p99: percentile(waits, 0.99),
    waiting: claimed.length,
    perTransaction: sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, sizes.length),
    gasPerSecond: gasUsed / (blocks * setting.blockSeconds),
  }
}

/** The fewest sponsors that keep up with this load. */
export function sponsorsFor(perSecond: number, setting: Omit<Setting, 'sponsors' | 'load'>): number | null {
  for (let sponsors = 1; sponsors <= MOST_SPONSORS; sponsors = Math.ceil(sponsors * 1.2)) {
    const outcome = simulateSponsors({ ...setting, sponsors, load: { kind: 'open', perSecond } })
    if (outcome.perSecond > perSecond * 0.97 && outcome.p99 < LATE_BLOCKS * setting.blockSeconds * 1000) return sponsors
  }
  return null
}

/** The gas of one transaction with this many payments: a line through what `npm run bench -- chain` prints. */
export function gasOf(payments: number): number {
  return payments === 1 ? 85_718 : 41_000 + 49_390 * payments
}

interface Setting {
  sponsors: number
  blockSeconds: number
  /** Our largest share of each block. */
  gasPerBlock: number
  load: { kind: 'open'; perSecond: number } | { kind: 'closed'; callers: number }
  seconds: number
  random: () => number
}

interface Outcome {
  perSecond: number
  p50: number
  p99: number
  /** Claimed and not taken at the end: grows without end where the load is too high. */
  waiting: number
  perTransaction: number
  gasPerSecond: number
}

interface Transaction {
  worker: { underWay: number }
  payments: readonly number[]
  sentAt: number
  gas: number
}

const STEP_MS = 5
/** The pace of a sponsor worker while it waits for the next block. */
const TURN_MS = PACE.turnMs
/** The time to read, sign, record and send. */
const SEND_MS = 25
/** A transaction that is sent later than this before a block is not in it. */
const REACH_MS = 50
/** From the block to the response. */
const LOOK_MS = 40
/** The most payments that one iteration of a sponsor worker takes. */
const TAKEN_MOST = 200
const MOST_SPONSORS = 400
/** Callers give up after this. */
const LATE_BLOCKS = 3

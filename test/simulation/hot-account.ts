import { percentile, Queue } from './queue.ts'

/**
 * One account that all callers charge. In each process, the operations of a moment go out as one batch
 * (service/kit/batch.ts), and the account's row lets one batch through at a time, from whichever process it comes. A
 * charge is two operations, one after the other: the hold, and its end.
 */
export function simulateHotRow(setting: RowSetting): RowOutcome {
  const processes = Array.from({ length: setting.processes }, () => ({ waiting: new Queue<Charge>(), isQueued: false }))
  const begin = (since: number, at: number): void => {
    processes[at % processes.length]!.waiting.push({ since, operations: 2, process: at % processes.length })
  }
  const line = new Queue<number>()
  const waits: number[] = []
  let done = 0
  for (let caller = 0; caller < setting.callers; caller++) begin(0, caller)
  let now = 0
  const end = setting.seconds * 1000
  while (now < end) {
    // A process with operations that does not queue for the row yet joins the queue.
    for (const [place, process] of processes.entries()) {
      if (process.isQueued || process.waiting.length === 0) continue
      process.isQueued = true
      line.push(place)
    }
    const [first] = line.take(1)
    if (first === undefined) throw new Error('callers are lost')
    const process = processes[first]!
    const flight = process.waiting.take(setting.flightMost)
    now += setting.cost.flightMs + setting.cost.operationMs * flight.length
    process.isQueued = false
    for (const charge of flight) {
      charge.operations--
      if (charge.operations > 0) {
        process.waiting.push(charge)
        continue
      }
      if (now > end / 4) {
        waits.push(now - charge.since)
        done++
      }
      begin(now, charge.process)
    }
  }
  return { perSecond: done / ((end * 3) / 4 / 1000), p50: percentile(waits, 0.5), p99: percentile(waits, 0.99) }
}

/**
 * The account in parts, each on a shard of its own. A charge goes to one part; if that part lacks money, it is pulled
 * from the others, richest first, and the charge is refused only when all of them together have too little. Income goes
 * to any part.
 */
export function simulateParts(setting: PartsSetting): PartsOutcome {
  const { parts, random } = setting
  const money = Array.from({ length: parts }, () => Math.floor(setting.balance / parts))
  let pulls = 0
  let falselyRefused = 0
  let refused = 0
  for (let charge = 0; charge < setting.charges; charge++) {
    // Spent money comes in again, at a random part: the account stays near its balance.
    money[Math.floor(random() * parts)]! += 1
    const place = Math.floor(random() * parts)
    while (money[place]! < 1) {
      const rich = richest(money, place)
      if (rich === null) break
      // Half of what the richest part has, so that the next charges here succeed too.
      const moved = Math.ceil(money[rich]! / 2)
      money[rich]! -= moved
      money[place]! += moved
      pulls++
    }
    if (money[place]! >= 1) money[place]! -= 1
    else {
      refused++
      if (money.reduce((sum, one) => sum + one, 0) >= 1) falselyRefused++
    }
  }
  return { pullsPerThousand: (pulls / setting.charges) * 1000, refused, falselyRefused }
}

function richest(money: readonly number[], but: number): number | null {
  let found: number | null = null
  for (const [place, one] of money.entries()) {
    if (place !== but && one > 0 && (found === null || one > money[found]!)) found = place
  }
  return found
}

interface RowSetting {
  processes: number
  /** Over all processes; each charges again as soon as its charge has ended. */
  callers: number
  flightMost: number
  cost: Cost
  seconds: number
}

interface Cost {
  /** A transaction and its flush. */
  flightMs: number
  operationMs: number
}

interface RowOutcome {
  perSecond: number
  p50: number
  p99: number
}

interface PartsSetting {
  parts: number
  /** In charges: how many the account could pay. */
  balance: number
  charges: number
  random: () => number
}

interface PartsOutcome {
  /** Transfers between shards that a charge had to wait for. */
  pullsPerThousand: number
  refused: number
  falselyRefused: number
}

interface Charge {
  since: number
  operations: number
  process: number
}

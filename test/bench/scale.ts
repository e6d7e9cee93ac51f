import { generator } from '../harness/random.ts'
import { simulateHotRow, simulateParts } from '../simulation/hot-account.ts'
import { LEDGER_COST } from '../simulation/measured.ts'
import { simulateSponsors, sponsorsFor } from '../simulation/sponsors.ts'

/*
 * The figures of docs/scale.md that cannot be measured on one machine, from simulations that give back what could be
 * (test/simulation). The same seed gives the same figures.
 */

const SEED = Number(process.env['SEED'] ?? 20_261_121)
const BLOCK_SECONDS = 2

heading('settlements a second', ['gas a second for us', 'sponsors', 'gas used', 'p50 s', 'p99 s', 'in a transaction'])
for (const gasPerSecond of [20e6, 100e6]) {
  for (const perSecond of [10, 100, 350, 1_000, 1_800]) {
    const setting = { blockSeconds: BLOCK_SECONDS, gasPerBlock: gasPerSecond * BLOCK_SECONDS, seconds: 40 }
    const sponsors = sponsorsFor(perSecond, { ...setting, random: generator(SEED) })
    const named = [perSecond, `${String(gasPerSecond / 1e6)} M`]
    if (sponsors === null) row([...named, 'no number', '', '', '', ''])
    else {
      const load = { kind: 'open', perSecond } as const
      const { gasPerSecond: used, ...outcome } = simulateSponsors({
        ...setting,
        sponsors,
        load,
        random: generator(SEED),
      })
      const seconds = [outcome.p50, outcome.p99].map((ms) => (ms / 1000).toFixed(1))
      row([...named, sponsors, `${(used / 1e6).toFixed(1)} M`, ...seconds, outcome.perTransaction.toFixed(1)])
    }
  }
}

heading('one hot row: processes', ['callers', 'largest flight', 'charges a second', 'p50 ms', 'p99 ms'])
for (const processes of [1, 4, 16]) {
  for (const callers of [64, 512, 4_096]) {
    for (const flightMost of [256, 2_048]) {
      const outcome = simulateHotRow({ processes, callers, flightMost, cost: LEDGER_COST, seconds: 20 })
      row([
        processes,
        callers,
        flightMost,
        outcome.perSecond.toFixed(0),
        outcome.p50.toFixed(1),
        outcome.p99.toFixed(1),
      ])
    }
  }
}

heading('the account in parts: parts', ['balance, in charges', 'pulls in a thousand charges', 'refused falsely'])
for (const parts of [4, 16, 64]) {
  for (const balance of [100, 1_000, 10_000, 100_000]) {
    const outcome = simulateParts({ parts, balance, charges: 400_000, random: generator(SEED) })
    row([parts, balance, outcome.pullsPerThousand.toFixed(2), outcome.falselyRefused])
  }
}

function heading(first: string, others: readonly string[]): void {
  console.log(`\n| ${[first, ...others].join(' | ')} |\n| ${[first, ...others].map(() => '---:').join(' | ')} |`)
}

function row(cells: readonly (string | number)[]): void {
  console.log(`| ${cells.map(String).join(' | ')} |`)
}

import { startChain, type TestChain } from '../harness/chain.ts'
import { load, type Hash, type Outcome } from './facilitator/load.ts'
import { Payments } from './facilitator/payments.ts'
import { startCoinslot, startReference, type Rival } from './facilitator/rivals.ts'

/*
 * The protocol's own facilitator and this one in turn, over the same chain in one run, on the machine that also
 * carries the chain and the callers: absolute figures say little elsewhere, the ratio does.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
/** Verifications are measured in turns of both, and the median counts: what else the machine does comes and goes. */
const ROUNDS = 3
const AT_ONCE = (process.env['BENCH_AT_ONCE'] ?? '1,16,64').split(',').map(Number)
const ONLY = process.env['BENCH_ONLY']
const BLOCK_SECONDS = 2
/** As on chains that are quicker than Base. */
const QUICK_BLOCK_SECONDS = 0.2
/**
 * A caller who waits for the block settles one payment per block: only many callers show how much the service can take.
 */
const CROWD = 512
/** `AuthorizationUsed(address,bytes32)`: one for each payment that a transaction carried to its end. */
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

const chain = await startChain()
const quick = await startChain({ mining: QUICK_BLOCK_SECONDS })
const started: Rival[] = []
try {
  const coinslot = await start(startCoinslot(chain))
  const rivals = [await start(startReference(chain)), coinslot]
  const payments = await Payments.open(chain, 1024)
  if (ONLY !== 'settle') await verifications('verify', rivals, payments)
  if (ONLY !== 'verify') await settlements('a block each', { rivals, payments, on: chain }, AT_ONCE)
  // Legacy clients are served by this same process, and measured against what they were written for.
  const legacy = [await start(startReference(chain, 1)), coinslot]
  const legacyPayments = await Payments.open(chain, 1024, 1)
  if (ONLY !== 'settle') await verifications('verify, version 1', legacy, legacyPayments)
  if (ONLY !== 'verify') {
    await settlements('version 1, a block each', { rivals: legacy, payments: legacyPayments, on: chain }, AT_ONCE)
    await chain.call('evm_setAutomine', false)
    await chain.call('evm_setIntervalMining', BLOCK_SECONDS)
    await settlements(`${String(BLOCK_SECONDS)} s blocks`, { rivals, payments, on: chain }, [...AT_ONCE, CROWD])
    await coinslot.stop()
    const onQuick = [await start(startReference(quick)), await start(startCoinslot(quick))]
    const quickPayments = await Payments.open(quick, 256)
    const blocks = `${String(QUICK_BLOCK_SECONDS * 1000)} ms blocks`
    await settlements(blocks, { rivals: onQuick, payments: quickPayments, on: quick }, AT_ONCE)
  }
} finally {
  for (const rival of started) await rival.stop()
  await chain.stop()
  await quick.stop()
}

async function start(starting: Promise<Rival>): Promise<Rival> {
  const rival = await starting
  started.push(rival)
  return rival
}

interface Match {
  rivals: readonly Rival[]
  payments: Payments
  on: TestChain
}

async function verifications(what: string, rivals: readonly Rival[], payments: Payments): Promise<void> {
  const sample = await payments.take(512)
  for (const { origin } of rivals) await load({ origin, path: '/verify' }, sample, { atOnce: 16, seconds: 1.5 })
  heading(what, ['a second', 'p50 ms', 'p99 ms', 'failed'])
  for (const atOnce of AT_ONCE) {
    const runs = new Map<Rival, Outcome[]>(rivals.map((rival) => [rival, []]))
    for (let round = 0; round < ROUNDS; round++) {
      for (const [{ origin }, outcomes] of runs)
        outcomes.push(await load({ origin, path: '/verify' }, sample, { atOnce, seconds: SECONDS / 2 }))
    }
    await inTurn(`${String(atOnce)} at once`, rivals, async (rival) => {
      const outcome = runs.get(rival)!.sort((a, b) => a.rate - b.rate)[Math.floor(ROUNDS / 2)]!
      return { outcome, cells: [outcome.p50.toFixed(1), outcome.p99.toFixed(1), failuresOf(outcome)] }
    })
  }
  payments.giveBack(sample)
}

async function settlements(mining: string, { rivals, payments, on }: Match, crowds: readonly number[]): Promise<void> {
  heading(`settle, ${mining}`, ['a second', 'p50 ms', 'p99 ms', 'failed', 'gas each', 'in one transaction'])
  for (const atOnce of crowds) {
    await inTurn(`${String(atOnce)} at once`, rivals, async ({ name, origin }) => {
      const ready = await payments.take(Math.ceil(SECONDS * (name === 'coinslot' ? 300 : 100)) + atOnce)
      const outcome = await load({ origin, path: '/settle' }, ready, { atOnce, seconds: SECONDS })
      payments.giveBack(outcome.unused)
      const { each, together } = await gasOf(on, outcome.hashes)
      const pace = [outcome.p50.toFixed(0), outcome.p99.toFixed(0)]
      return { outcome, cells: [...pace, failuresOf(outcome), each.toFixed(0), together.toFixed(1)] }
    })
  }
}

async function inTurn(
  what: string,
  rivals: readonly Rival[],
  measure: (rival: Rival) => Promise<{ outcome: Outcome; cells: string[] }>,
): Promise<void> {
  const rates: number[] = []
  for (const rival of rivals) {
    const { outcome, cells } = await measure(rival)
    rates.push(outcome.rate)
    row([what, rival.name, outcome.rate.toFixed(1), ...cells])
  }
  const [theirs = 0, ours = 0] = rates
  row([what, '**ratio**', theirs === 0 ? '–' : `**${(ours / theirs).toFixed(1)}**`])
}

async function gasOf(on: TestChain, hashes: readonly Hash[]): Promise<{ each: number; together: number }> {
  let gas = 0
  let payments = 0
  const different = new Set(hashes)
  for (const hash of different) {
    const receipt = (await on.call('eth_getTransactionReceipt', hash)) as Receipt
    gas += Number(receipt.gasUsed)
    payments += receipt.logs.filter(({ topics }) => topics[0] === USED).length
  }
  return { each: gas / payments || 0, together: payments / different.size || 0 }
}

interface Receipt {
  gasUsed: Hash
  logs: { topics: Hash[] }[]
}

function failuresOf({ failures, successes }: Outcome): string {
  const count = [...failures.values()].reduce((sum, each) => sum + each, 0)
  if (count === 0) return '0'
  const [reason] = [...failures].sort((a, b) => b[1] - a[1])[0]!
  return `${String(count)} of ${String(count + successes)} (${reason})`
}

function heading(what: string, columns: readonly string[]): void {
  console.log('')
  row([what, '', ...columns])
  console.log(`| --- | --- |${' ---: |'.repeat(columns.length)}`)
}

function row(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

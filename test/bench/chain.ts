import { loadCurve, loadKeccak } from '../../service/chain/curve.ts'
import { createSignatures } from '../../service/chain/eip712.ts'
import type { SignedAuthorization } from '../../service/chain/model.ts'
import { openWorld, type World } from '../chain/world.ts'

/** Measures the chain adapter alone, over an anvil on the same machine: the upper limit for all code that uses it. */
const world = await openWorld()
const seller = (await world.local.payer(1n)).address
const items = await payments(64, [seller])

for (const kind of ['native', 'wasm'] as const) {
  const signatures = createSignatures(await loadCurve(kind), await loadKeccak())
  const recover = (place: number): void => {
    const item = items[place % items.length]!
    if (signatures.recover(signatures.digest(world.local.network, item), item.signature) !== item.from)
      throw new Error()
  }
  for (let warm = 0; warm < 500; warm++) recover(warm)
  const ms = await timed(() => {
    for (let round = 0; round < 4_000; round++) recover(round)
  })
  print(`digest and recovery, ${kind}`, `${String(Math.round(4_000_000 / ms))} a second`)
}

const chain = world.adapter({ headMaxAgeMs: 1_000 })
for (const count of [1, 16, 50, 1, 16, 50]) {
  const times: number[] = []
  for (let round = 0; round < 40; round++) times.push(await timed(() => simulateAll(items.slice(0, count))))
  print(`simulation of ${String(count)}`, `p50 ${quantile(times, 0.5)} ms, p95 ${quantile(times, 0.95)} ms`)
}

const began = performance.now()
const latencies: number[] = []
await Promise.all(
  items.map(async (item) => {
    while (performance.now() - began < 4_000) {
      latencies.push(
        await timed(async () => {
          world.signatures.recover(world.signatures.digest(world.local.network, item), item.signature)
          await simulateAll([item])
        }),
      )
    }
  }),
)
const pace = Math.round((latencies.length * 1_000) / (performance.now() - began))
print('recovery and simulation, 64 at once', `${String(pace)} a second, p99 ${quantile(latencies, 0.99)} ms`)

const single = await world.send(world.chain.encodeTransfer((await payments(1, [seller]))[0]!, false))
print('gas of a transfer', String(single.gasUsed))
for (const count of [10, 25, 50]) {
  const many = await Promise.all(Array.from({ length: count }, async () => (await world.local.payer(1n)).address))
  const one = await world.send(world.chain.encodeBatch(await payments(count, [seller])))
  const own = await world.send(world.chain.encodeBatch(await payments(count, many)))
  const each = (gas: bigint): string => String(Math.round(Number(gas) / count))
  print(`gas each in a batch of ${String(count)}`, `${each(one.gasUsed)}; a seller for each: ${each(own.gasUsed)}`)
}
await world.stop()

function payments(count: number, sellers: readonly World['sponsor']['address'][]): Promise<SignedAuthorization[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, place) => {
      const payer = await world.local.payer(5_000_000n)
      return payer.authorize(world.local.network, sellers[place % sellers.length]!)
    }),
  )
}

async function simulateAll(authorizations: readonly SignedAuthorization[]): Promise<void> {
  const simulations = await chain.simulate(authorizations)
  if (!simulations.every(({ outcome }) => outcome.succeeds)) throw new Error('a good payment was refused')
}

async function timed(act: () => unknown): Promise<number> {
  const start = performance.now()
  await act()
  return performance.now() - start
}

function quantile(times: number[], part: number): string {
  return ([...times].sort((a, b) => a - b)[Math.floor(times.length * part)] ?? 0).toFixed(1)
}

function print(what: string, figure: string): void {
  process.stdout.write(`${what.padEnd(40)}${figure}\n`)
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import type { Hex } from '../../service/chain/model.ts'
import { compose } from '../../service/wiring/compose.ts'
import { readConfig } from '../../service/config.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { startChain } from '../harness/chain.ts'
import { liveSettings, send } from '../wallet/world.ts'

/**
 * The monitor on a chain that it has not looked at for days: blocks a second, with what memory; and how many
 * deposits a second it credits when they come thick. The chain is anvil on the same cores, every credit is flushed.
 */
// Anvil makes some hundred a second: `npm run bench -- deposits 20000` is done sooner.
const BLOCKS = Number(process.argv[2] ?? 100_000)
const DEPOSITS = Number(process.argv[3] ?? 2_000)
const WALLETS = 500

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const embedded = await startEmbedded({ dataDir: folder })
await migrate(embedded.url)
const chain = await startChain({ chainId: 8453 })
const config = readConfig({
  ...(await liveSettings(chain)),
  DATA_DIR: folder,
  DATABASE_URL: embedded.url,
  PORT: '0',
})
const service = await compose(config, { url: embedded.url, log: pino({ level: 'silent' }) })
const [monitor] = service.wallets.monitors
if (monitor === undefined) throw new Error('there is nothing to watch')
const turn = () => monitor.turn(new Date(), new AbortController().signal)

const addresses: Hex[] = []
for (let count = 0; count < WALLETS; count++) {
  const owner = { userId: `usr_${String(count)}`, environment: 'production' as const }
  await service.ledger.openAccounts(owner.userId)
  const address = await service.wallets.depositAddress(owner)
  if (address !== null) addresses.push(address)
}
await chain.mine(10)
await turn()

console.log('| blocks behind | wallets | blocks/s | memory before MB | memory at most MB |')
console.log('| ---: | ---: | ---: | ---: | ---: |')
for (let mined = 0; mined < BLOCKS; mined += 2_000) await chain.mine(2_000)
globalThis.gc?.()
const before = process.memoryUsage().heapUsed
let most = before
const watching = setInterval(() => (most = Math.max(most, process.memoryUsage().heapUsed)), 5)
const started = performance.now()
await turn()
const seconds = (performance.now() - started) / 1000
clearInterval(watching)
const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0)
console.log(
  `| ${String(BLOCKS)} | ${String(WALLETS)} | ${(BLOCKS / seconds).toFixed(0)} | ${megabytes(before)} | ${megabytes(most)} |`,
)

console.log('\n| deposits | in one transaction | credited/s |')
console.log('| ---: | ---: | ---: |')
for (const each of [1, 20]) {
  for (let sent = 0; sent < DEPOSITS; sent += each) {
    const transfers = Array.from({ length: each }, (_, place) => ({
      to: addresses[(sent + place) % addresses.length] ?? chain.network.usdc.address,
      value: 1_000_000n,
    }))
    await send(chain, transfers)
  }
  await chain.mine(3)
  // The newest block is remembered for a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  const begun = performance.now()
  await turn()
  console.log(
    `| ${String(DEPOSITS)} | ${String(each)} | ${(DEPOSITS / ((performance.now() - begun) / 1000)).toFixed(0)} |`,
  )
}

await service.stop()
await chain.stop()
await embedded.stop()
rmSync(folder, { recursive: true })

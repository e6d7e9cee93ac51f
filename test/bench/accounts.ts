import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { listen } from '../../service/api/server.ts'
import { readConfig } from '../../service/config.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { compose } from '../../service/wiring/compose.ts'
import { startChain } from '../harness/chain.ts'
import { sendMcp } from '../harness/mcp.ts'
import { freePort } from '../harness/ports.ts'
import { walletKeys } from '../wallet/world.ts'

/*
 * A call of a checkout's MCP tool with an API key: paid in the ledger where the seller has a wallet here, and on the chain
 * where it has an address of its own. The chain mines at once, so what it takes is the service's own; then every two
 * seconds, as Base does. Both in turns, in one process, which shares the machine with its database and the chain.
 */
const KEY = `csk_test_${'b'.repeat(40)}`

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const embedded = await startEmbedded({ dataDir: path.join(folder, 'database') })
await migrate(embedded.url)
const chain = await startChain()
const config = readConfig({
  DATA_DIR: folder,
  DATABASE_URL: embedded.url,
  LOG_LEVEL: 'silent',
  DEMO_API_KEY: KEY,
  PORT: String(await freePort()),
  ...(await walletKeys()),
  BASE_SEPOLIA_RPC_URLS: chain.url,
  SPONSOR_PRIVATE_KEYS: chain.accounts[0]?.privateKey ?? '',
  SETTLE_CONFIRMATIONS: '1',
  ...Object.fromEntries(['API', 'PAY', 'SETTLE', 'VERIFY'].map((of) => [`RATE_${of}_PER_MINUTE`, '0'])),
  ...Object.fromEntries(['', 'PAYER_', 'RECIPIENT_'].map((of) => [`GAS_BUDGET_PER_${of}DAY`, '0'])),
})
const service = await compose(config, { url: embedded.url, log: pino({ level: 'silent' }) })
await service.identity.ensureDemoAccount({ apiKey: KEY })
await service.start()
const server = await listen(service.app, config.PORT, '127.0.0.1')
const origin = `http://127.0.0.1:${String(server.port)}`
await chain.fund(service.wallets.treasury()!, 1_000_000_000n)
await chain.mine()
await post('/v1/wallet/deposit', { amount: 90 })

const sellers = {
  'on the chain': await sell({ recipient: chain.accounts[3]!.address }),
  'in the ledger': await sell({}),
}
console.log('| blocks | a keyed MCP purchase is paid | p50 ms | p99 ms | against the chain |')
console.log('| --- | --- | ---: | ---: | ---: |')
// The first turn pays for what is compiled and connected once.
await measure(1, 10)
report('at once', await measure(10, 10))
await chain.call('evm_setAutomine', false)
await chain.call('evm_setIntervalMining', 2)
report('each 2 s', await measure(5, 2))
await server.drain(1_000)
await service.stop()
await chain.stop()
await embedded.stop()
rmSync(folder, { recursive: true })

/** In turns, so that what else the machine does falls on both. */
async function measure(turns: number, calls: number): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {}
  for (let turn = 0; turn < turns; turn++) {
    for (const [name, id] of Object.entries(sellers)) {
      for (let call = 0; call < calls; call++) {
        const began = performance.now()
        await buy(id)
        ;(times[name] ??= []).push(performance.now() - began)
      }
    }
  }
  return times
}

function report(blocks: string, times: Readonly<Record<string, readonly number[]>>): void {
  const at = (all: readonly number[], part: number) => all.toSorted((a, b) => a - b)[Math.floor(all.length * part)]!
  const chain = at(times['on the chain']!, 0.5)
  for (const [name, all] of Object.entries(times)) {
    const [half, most] = [at(all, 0.5), at(all, 0.99)]
    console.log(`| ${blocks} | ${name} | ${half.toFixed(1)} | ${most.toFixed(1)} | ${(chain / half).toFixed(1)} × |`)
  }
}

async function sell(terms: object): Promise<string> {
  const product = { product: { name: 'Benchmark' }, price: 0.01, network: 'base-sepolia' }
  const after = { after: { kind: 'text', text: 'Thank you.' } }
  const { checkout } = (await post('/v1/checkouts', { ...product, ...after, ...terms })) as { checkout: { id: string } }
  return checkout.id
}

async function buy(id: string): Promise<void> {
  const message = { method: 'tools/call', params: { name: 'benchmark', arguments: {} } }
  const { result } = await sendMcp(`${origin}/p/${id}/mcp`, message, { authorization: `Bearer ${KEY}` })
  const { isError = false, content } = result as { isError?: boolean; content: unknown }
  if (isError) throw new Error(JSON.stringify(content))
}

async function post(at: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }
  const response = await fetch(origin + at, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${at}: ${String(response.status)} ${await response.text()}`)
  return await response.json()
}

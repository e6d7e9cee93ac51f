import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDatabase } from '../../service/database/client.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import type { Address } from '../../service/chain/model.ts'
import type { Entry } from '../../service/discovery/model.ts'
import { NETWORKS } from '../../service/chain/networks.ts'
import { createCatalogue } from '../../service/discovery/service/catalogue.ts'
import { createListing } from '../../service/discovery/service/listing.ts'
import { createRanking } from '../../service/discovery/service/ranking.ts'
import { createCheckStore } from '../../service/discovery/store/checks.ts'
import { createCatalogueStore } from '../../service/discovery/store/catalogue.ts'
import { createRankingStore } from '../../service/discovery/store/ranking.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { bazaarOf, type SoldResource } from '../../service/x402/bazaar.ts'
import type { PaymentRequest } from '../../service/x402/model.ts'

/*
 * Measures the catalogue with as many entries as the largest one that is public: the three questions that buyers ask,
 * how long an entry takes to be written, one run of the ranking, and how long a settled sale takes until its address
 * waits for its check, or until its seller is told why it is not listed.
 */

const LISTINGS = Number(process.env['BENCH_LISTINGS'] ?? 14_000)
const ASKS = Number(process.env['BENCH_ASKS'] ?? 2_000)
const P95_TARGET_MS = 10
const SETTLEMENTS = Number(process.env['BENCH_SETTLEMENTS'] ?? 10_000)
const SETTLED_AT_ONCE = 64
const LISTED_TARGET_MS = 1_000
const MERCHANT_LISTINGS = 35

const NOUNS =
  'weather forecast invoice currency exchange image translation summary speech video map route news stock price'
const VERBS = 'get list create convert search analyse translate generate check render'
const [nouns, verbs] = [NOUNS.split(' '), VERBS.split(' ')]

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const embedded = process.env['BENCH_DATABASE_URL'] === undefined ? await startEmbedded({ dataDir: folder }) : null
const url = process.env['BENCH_DATABASE_URL'] ?? embedded?.url ?? ''
await migrate(url)
const database = openDatabase({ url, poolMax: 4 })
const store = { ...createCatalogueStore(database.statements), ...createCheckStore(database.statements) }
let missed = 0
try {
  await fill()
  await rank()
  await database.statements.run('VACUUM ANALYZE discovery_resource', [])
  await questions()
  await settlements()
  console.log(missed === 0 ? '\nEvery target was met.' : `\n${String(missed)} TARGETS MISSED.`)
  process.exitCode = missed === 0 ? 0 : 1
} finally {
  await database.close()
  await embedded?.stop()
  rmSync(folder, { recursive: true, force: true })
}

function pick<Item>(items: readonly Item[], nth: number): Item {
  const item = items[nth % items.length]
  if (item === undefined) throw new Error('there is nothing to pick')
  return item
}

function address(nth: number): Address {
  return `0x${(nth + 1).toString(16).padStart(40, '0')}`
}

/** Real descriptions are a sentence or two, and real schemas have a handful of fields. */
function entryOf(nth: number): Entry {
  const [verb, noun, other] = [pick(verbs, nth * 7), pick(nouns, nth), pick(nouns, nth * 13 + 5)]
  const field = (name: string) => [name, { type: 'string', required: true, description: `The ${name} of the ${noun}` }]
  const bodyFields = Object.fromEntries(['city', 'language', 'format', 'from', 'until'].map(field)) as object
  const bazaar = bazaarOf({ input: { type: 'http', method: 'POST', bodyType: 'json', bodyFields } })
  const payTo = address(Math.floor(nth / MERCHANT_LISTINGS))
  const network = nth % 10 === 0 ? 'base-sepolia' : 'base'
  return {
    resource: `https://${noun}-${String(nth)}.example/v1/${verb}`,
    tool: '',
    network,
    scheme: 'exact',
    payTo,
    type: 'http',
    x402Version: 2,
    accepts: [
      {
        scheme: 'exact',
        network: network === 'base' ? 'eip155:8453' : 'eip155:84532',
        amount: String(1_000 + nth),
        asset: address(7),
        payTo,
        maxTimeoutSeconds: 60,
        extra: { name: 'USD Coin', version: '2' },
      },
    ],
    description: `An API to ${verb} ${noun} and ${other} data, number ${String(nth)}, with one call for each request.`,
    mimeType: 'application/json',
    serviceName: `${noun} ${String(nth)}`,
    tags: [noun, other],
    iconUrl: null,
    extensions: { bazaar },
    extensionKeys: ['bazaar'],
  }
}

async function fill(): Promise<void> {
  const times: number[] = []
  const now = new Date()
  for (let nth = 0; nth < LISTINGS; nth++) {
    const began = performance.now()
    const id = await store.put(entryOf(nth), 200, now)
    times.push(performance.now() - began)
    if (id === null) throw new Error('an entry was refused')
    // Like the real catalogue: half of the entries have one payer, few have many.
    const payers = nth % 2 === 0 ? 1 : nth % 97 === 0 ? 40 : 3
    await store.count(
      Array.from({ length: payers }, (_, place) => ({
        resource: id,
        payer: address(1_000_000 + ((nth * 31 + place * 7) % 9_000)),
        settled: 1 + (nth % 5),
        failed: nth % 11 === 0 ? 1 : 0,
        waitedMs: 800,
        timed: 1,
      })),
      now,
    )
  }
  console.log(
    `${String(LISTINGS)} entries.\n\n| | p50 ms | p95 ms | p99 ms | worst |\n| --- | ---: | ---: | ---: | ---: |`,
  )
  line('write an entry', times, null)
}

async function rank(): Promise<void> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const ranking = createRanking({ store: createRankingStore(database.statements), chains: [], clock: systemClock, log })
  const times: number[] = []
  for (let time = 0; time < 5; time++) {
    const began = performance.now()
    await ranking.rank(new Date())
    times.push(performance.now() - began)
  }
  line('rank all', times, null)
}

async function questions(): Promise<void> {
  const catalogue = createCatalogue(store, { clock: systemClock })
  const all = { type: null, payTo: null, scheme: null, network: null, extension: null }
  const page = { limit: 20, offset: 0 }
  await measure('list, first page', () => catalogue.list(all, page))
  await measure('list, any page', (nth) => catalogue.list(all, { limit: 20, offset: (nth * 997) % LISTINGS }))
  await measure('list, a hundred, with filters', (nth) =>
    catalogue.list(
      { ...all, type: 'http', scheme: 'exact', network: 'base-sepolia', extension: 'bazaar' },
      { limit: 100, offset: (nth * 37) % 1_000 },
    ),
  )
  await measure('list, of one recipient', (nth) => catalogue.list({ ...all, payTo: address(nth % 400) }, page))
  await measure('search, two words', (nth) =>
    catalogue.search(`${pick(verbs, nth)} ${pick(nouns, nth)}`, all, { limit: 20, cursor: null }),
  )
  await measure('search, a word that all have', () => catalogue.search('data', all, { limit: 20, cursor: null }))
  await measure('search, a sentence', (nth) =>
    catalogue.search(`I want to ${pick(verbs, nth)} the ${pick(nouns, nth * 3)} of tomorrow in Berlin`, all, {
      limit: 20,
      cursor: null,
    }),
  )
  await measure('merchant', (nth) => catalogue.ofMerchant(address(nth % 400), page))
}

/** What the facilitator passes on after a settlement; the settlement itself is measured elsewhere. */
function soldOf(nth: number): SoldResource {
  const { resource, description, payTo, extensions } = entryOf(1_000_000 + nth)
  const { usdc, caip2 } = NETWORKS.base
  const from = address(2_000_000 + nth)
  const payment: PaymentRequest = {
    version: 2,
    offered: { scheme: 'exact', network: caip2 },
    required: {
      scheme: 'exact',
      network: caip2,
      payTo,
      asset: usdc.address,
      amount: 1_000n,
      domain: { name: usdc.name, version: usdc.version },
    },
    network: NETWORKS.base,
    authorization: {
      from,
      to: payTo,
      value: 1_000n,
      validAfter: 0n,
      validBefore: 2_000_000_000n,
      nonce: `0x${nth.toString(16).padStart(64, '0')}`,
      signature: '0x',
    },
    payer: from,
    escrow: null,
    permit: null,
    tokenPermit: null,
    valueMismatch: 'invalid_exact_evm_payload_authorization_value_mismatch',
  }
  // Every tenth one cannot be listed: its seller learns why.
  return {
    payment,
    timeoutSeconds: 60,
    resource: nth % 10 === 0 ? { url: 'https://192.0.2.1/' } : { url: resource, description },
    extensions,
  }
}

async function settlements(): Promise<void> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const measures = { count: () => undefined }
  const listing = createListing({ store, ownAddresses: [], clock: systemClock, log, measures, entriesPerHost: 200 })
  const latencies: number[] = []
  let rejected = 0
  let next = 0
  await Promise.all(
    Array.from({ length: SETTLED_AT_ONCE }, async () => {
      for (let nth = next++; nth < SETTLEMENTS; nth = next++) {
        const resource = soldOf(nth)
        const began = performance.now()
        const status = (await listing.settled(resource, { status: 'settled' }))['bazaar']?.status
        latencies.push(performance.now() - began)
        if (status === 'rejected') rejected++
      }
    }),
  )
  const found = await database.statements.run<{ count: bigint }>(
    "SELECT count(*) AS count FROM discovery_check WHERE state = 'waiting'",
    [],
  )
  const lost = SETTLEMENTS - rejected - Number(found[0]?.count ?? 0)
  if (lost > 0) missed++
  console.log(`${String(SETTLEMENTS)} settlements, ${String(rejected)} not listable, ${String(lost)} lost`)
  line(`waits for its check, or told why not, ${String(SETTLED_AT_ONCE)} at once`, latencies, LISTED_TARGET_MS)
}

async function measure(name: string, query: (nth: number) => Promise<unknown>): Promise<void> {
  for (let nth = 0; nth < 50; nth++) await query(nth)
  const times: number[] = []
  for (let nth = 0; nth < ASKS; nth++) {
    const began = performance.now()
    await query(nth)
    times.push(performance.now() - began)
  }
  line(name, times, P95_TARGET_MS)
}

function line(name: string, times: number[], target: number | null): void {
  times.sort((one, other) => one - other)
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  const isMissed = target !== null && at(0.95) > target
  if (isMissed) missed++
  const cells = [0.5, 0.95, 0.99, 1].map((share) => at(share).toFixed(2))
  console.log(`| ${name}${isMissed ? ` (target ${String(target)})` : ''} | ${cells.join(' | ')} |`)
}

import type { Address, Receipt } from '../../service/chain/model.ts'
import { NETWORKS } from '../../service/chain/networks.ts'
import type { Entry } from '../../service/discovery/model.ts'
import type { FundingChain } from '../../service/discovery/ports.ts'
import { createRanking } from '../../service/discovery/service/ranking.ts'
import { createCatalogueStore } from '../../service/discovery/store/catalogue.ts'
import { createRankingStore } from '../../service/discovery/store/ranking.ts'
import { DomainError } from '../../service/kit/errors.ts'
import { bazaarOf } from '../../service/x402/bazaar.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

const NOW = new Date('2026-11-23T12:00:00Z')
const HEAD = 2_000_000n

function address(nth: number): Address {
  return `0x${nth.toString(16).padStart(40, '0')}`
}

/** A chain that has nothing but transfers, and counts what it is asked. */
class FakeChain implements FundingChain {
  readonly network = NETWORKS.base
  readonly searches: bigint[] = []
  readonly transfers: { block: bigint; from: Address; to: Address }[] = []
  receipts = 0
  widest = 10_000n

  head(): ReturnType<FundingChain['head']> {
    const block = { number: HEAD, hash: '0x', timestamp: 0n, baseFee: 0n }
    return Promise.resolve(block as unknown as Awaited<ReturnType<FundingChain['head']>>)
  }

  transfersTo({ to, from, upTo }: Parameters<FundingChain['transfersTo']>[0]): ReturnType<FundingChain['transfersTo']> {
    const width = upTo - from + 1n
    if (width > this.widest) return Promise.reject(new DomainError('unavailable', 'search_too_wide', 'Too wide.'))
    this.searches.push(width)
    const found = this.transfers.filter((one) => to.includes(one.to) && one.block >= from && one.block <= upTo)
    const transactions = found.map((one) => ({ hash: hashOf(this.transfers.indexOf(one)), transfers: 1 }))
    const transfers = found.map((one) => ({ from: one.from, to: one.to, value: 5n, block: one.block }))
    return Promise.resolve({ transactions, transfers, blockHash: '0x', markHash: null })
  }

  receipt(hash: `0x${string}`): Promise<Receipt | null> {
    this.receipts++
    const one = this.transfers[Number(hash)]
    if (one === undefined) return Promise.resolve(null)
    return Promise.resolve({ transfers: [{ ...one, value: 5n, logIndex: 0 }] } as unknown as Receipt)
  }
}

function hashOf(nth: number): `0x${string}` {
  return `0x${nth.toString(16)}`
}

describe('the search for the origin of payers', () => {
  let database: TestDatabase
  let chain: FakeChain
  beforeEach(async () => {
    database = await testDatabase()
    chain = new FakeChain()
  })
  afterEach(() => database.close())

  const ranking = () =>
    createRanking({
      store: createRankingStore(database.statements),
      chains: [chain],
      clock: { now: () => NOW },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    })

  const entry = (resource: string, payTo: Address): Entry => ({
    resource,
    tool: '',
    network: 'base',
    scheme: 'exact',
    payTo,
    type: 'http',
    x402Version: 2,
    accepts: [],
    description: 'A page',
    mimeType: null,
    serviceName: null,
    tags: [],
    iconUrl: null,
    extensions: { bazaar: bazaarOf({ input: { type: 'http' } }) },
    extensionKeys: ['bazaar'],
  })

  async function sell(resource: string, merchant: Address, payers: readonly Address[]): Promise<void> {
    const store = createCatalogueStore(database.statements)
    const id = await store.put(entry(resource, merchant), 200, NOW)
    if (id === null) throw new Error('not listed')
    await store.count(
      payers.map((payer) => ({ resource: id, payer, settled: 1, failed: 0, waitedMs: 100, timed: 1 })),
      NOW,
    )
  }

  async function inOrder(): Promise<{ resource: string; payers: number }[]> {
    const all = { type: null, payTo: null, scheme: null, network: null, extension: null }
    const entries = await createCatalogueStore(database.statements).list(all, { limit: 100, offset: 0 })
    return entries.map(({ resource, payers }) => ({ resource, payers }))
  }

  test('puts a seller with customers before one that pays itself, over two addresses', async () => {
    const [honest, ring, funder] = [address(1), address(2), address(3)]
    const customers = [11, 12, 13].map(address)
    const wallets = Array.from({ length: 12 }, (_, nth) => address(100 + nth))
    await sell('https://honest.example/', honest, customers)
    await sell('https://ring.example/', ring, wallets)
    for (const [nth, customer] of customers.entries()) {
      chain.transfers.push({ block: HEAD - BigInt(nth) * 9_000n, from: address(50 + nth), to: customer })
    }
    for (const [nth, wallet] of wallets.entries()) {
      chain.transfers.push({ block: HEAD - 5n, from: address(200 + nth), to: wallet })
      chain.transfers.push({ block: HEAD - 6n, from: funder, to: address(200 + nth) })
    }
    await ranking().rank(NOW)
    for (let time = 0; time < 20; time++) await ranking().search(NOW)
    await ranking().rank(NOW)
    expect(await inOrder()).toEqual([
      { resource: 'https://honest.example/', payers: 3 },
      { resource: 'https://ring.example/', payers: 12 },
    ])
    const rows = await database.statements.run<{ resource: string; score: number }>(
      'SELECT resource, score FROM discovery_resource ORDER BY resource',
      [],
    )
    expect(rows.map(({ score }) => Math.round(score))).toEqual([3, 1])
  })

  test('searches in bounded ranges, narrower where the node refuses, and ends at the look-back', async () => {
    await sell('https://quiet.example/', address(1), [address(11), address(12)])
    chain.widest = 3_000n
    for (let time = 0; time < 4; time++) {
      const before = chain.searches.length
      await ranking().search(NOW)
      expect(chain.searches.length - before).toBeLessThanOrEqual(6)
    }
    const one = ranking()
    for (let time = 0; time < 100; time++) await one.search(NOW)
    const searches = chain.searches.length
    for (let time = 0; time < 3; time++) await one.search(NOW)
    expect(chain.searches.length).toBe(searches)
    expect(chain.searches.every((width) => width <= 3_000n)).toBe(true)
    expect(await database.statements.run('SELECT count(*)::int AS open FROM discovery_origin WHERE open', [])).toEqual([
      { open: 0 },
    ])
  })

  test('a rank is saved only where it changed', async () => {
    await sell('https://same.example/', address(1), [address(11)])
    await ranking().rank(NOW)
    const version = async () => await database.statements.run('SELECT xmin::text AS v FROM discovery_resource', [])
    const before = await version()
    await ranking().rank(NOW)
    expect(await version()).toEqual(before)
  })
})

import fc from 'fast-check'
import type { Address } from '../../service/chain/model.ts'
import type { Transfer } from '../../service/discovery/model.ts'
import { ranking, type Rank, type RankedResource, type Visit } from '../../service/discovery/rules/ranking.ts'

/*
 * Rings of one's own wallets against honest sellers in one market. However a ring moves its money, it stays below the
 * median honest seller.
 */

const SEED = Number(process.env['SEED'] ?? 20_261_123)
const NOW = new Date('2026-11-23T12:00:00Z')

function rank(...known: Parameters<typeof ranking>): Map<bigint, Rank> {
  const parts = ranking(...known)
  let part = parts.next()
  while (part.done !== true) part = parts.next()
  return part.value
}

/** A market that grows seller by seller. Every name is an address of its own. */
class Market {
  readonly resources: RankedResource[] = []
  readonly visits: Visit[] = []
  readonly transfers: Transfer[] = []
  private readonly addresses = new Map<string, Address>()

  address(name: string): Address {
    const known = this.addresses.get(name)
    if (known !== undefined) return known
    // Scattered, so that no order of addresses is the order of their creation.
    const digits = ((this.addresses.size + 1) * 7_919).toString(16).padStart(8, '0').split('').toReversed().join('')
    const address: Address = `0x${digits.padEnd(40, '0')}`
    this.addresses.set(name, address)
    return address
  }

  sell(name: string, place = name): bigint {
    const id = BigInt(this.resources.length + 1)
    this.resources.push({
      id,
      merchant: this.address(name),
      place,
      firstAt: new Date(NOW.getTime() + Number(id)),
      isSold: true,
    })
    return id
  }

  buy(resource: bigint, payer: string, more: Partial<Visit> = {}): void {
    const counts = { settled: 1, failed: 0, waitedMs: 500, timed: 1, lastAt: NOW }
    this.visits.push({ resource, payer: this.address(payer), ...counts, ...more })
  }

  fund(from: string, to: string): void {
    this.transfers.push({ from: this.address(from), to: this.address(to) })
  }

  /** Each payer is another person with an own source of money. */
  honest(name: string, payers: number): bigint {
    const resource = this.sell(name)
    for (let nth = 0; nth < payers; nth++) {
      this.fund(`${name} source ${String(nth)}`, `${name} payer ${String(nth)}`)
      this.buy(resource, `${name} payer ${String(nth)}`)
    }
    return resource
  }

  scores(): Map<bigint, number> {
    return new Map([...rank(this.resources, this.visits, this.transfers)].map(([id, { score }]) => [id, score]))
  }
}

/** Every way in which one person plays many customers. */
const RINGS = [
  'self-funded',
  'shared funder',
  'two steps',
  'cycle',
  'star',
  'siblings',
  'sham income',
  'unknown',
] as const

function addRing(market: Market, kind: (typeof RINGS)[number], { wallets, calls }: Ring): bigint[] {
  const merchant = market.sell('ring')
  const names = Array.from({ length: wallets }, (_, nth) => `wallet ${String(nth)}`)
  for (const name of names) market.buy(merchant, name, { settled: calls })
  switch (kind) {
    case 'self-funded':
      for (const name of names) market.fund('ring', name)
      return [merchant]
    case 'shared funder':
      for (const name of names) market.fund('funder', name)
      return [merchant]
    case 'two steps':
      for (const name of names) {
        market.fund('funder', `step ${name}`)
        market.fund(`step ${name}`, name)
      }
      return [merchant]
    case 'cycle':
      for (const [nth, name] of names.entries()) market.fund(name, names[(nth + 1) % wallets] ?? name)
      market.fund('ring', 'wallet 0')
      return [merchant]
    case 'star':
      // The merchant pays a shop of its own, which funds the wallets.
      for (const name of names) market.fund('shop', name)
      market.buy(market.sell('shop'), 'ring')
      return [merchant]
    case 'siblings':
      return [merchant, ...siblings(market, names, calls)]
    case 'sham income':
      // The wallets earn their money from more wallets, whose money is of unknown origin.
      for (const name of names)
        for (const nth of [1, 2, 3, 4, 5]) market.buy(shopOf(market, name), `${name} ${String(nth)}`)
      return [merchant]
    case 'unknown':
      return [merchant]
  }
}

interface Ring {
  wallets: number
  calls: number
}

function shopOf(market: Market, name: string): bigint {
  const address = market.address(name)
  return market.resources.find(({ merchant }) => merchant === address)?.id ?? market.sell(name)
}

/** One funder, whose wallets buy at many merchants of its own: it tries to look like an exchange. */
function siblings(market: Market, names: readonly string[], calls: number): bigint[] {
  const others = Array.from({ length: 9 }, (_, nth) => market.sell(`sibling ${String(nth)}`))
  for (const [nth, name] of names.entries()) {
    market.fund('funder', name)
    market.buy(others[nth % others.length] ?? 0n, name, { settled: calls })
    market.buy(others[(nth * 5 + 1) % others.length] ?? 0n, name, { settled: calls })
  }
  return others
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)] ?? 0
}

describe('the ranking', () => {
  test.each(RINGS)('keeps a ring below the median honest seller: %s', (kind) => {
    const market = fc.record({
      honest: fc.array(fc.integer({ min: 2, max: 12 }), { minLength: 3, maxLength: 7 }),
      ring: fc.record({ wallets: fc.integer({ min: 2, max: 120 }), calls: fc.integer({ min: 1, max: 10_000 }) }),
    })
    fc.assert(
      fc.property(market, ({ honest, ring }) => {
        const market = new Market()
        const sellers = honest.map((payers, nth) => market.honest(`honest ${String(nth)}`, payers))
        const rings = addRing(market, kind, ring)
        const scores = market.scores()
        const middle = median(sellers.map((id) => scores.get(id) ?? 0))
        for (const id of rings) expect(scores.get(id)).toBeLessThan(middle)
      }),
      { seed: SEED, numRuns: 60 },
    )
  })

  test('gives the same result in any order of its inputs', () => {
    const market = new Market()
    for (const payers of [2, 5, 9]) market.honest(`honest ${String(payers)}`, payers)
    addRing(market, 'siblings', { wallets: 40, calls: 3 })
    const before = market.scores()
    fc.assert(
      fc.property(
        fc.shuffledSubarray(market.visits, { minLength: market.visits.length }),
        fc.shuffledSubarray(market.transfers, { minLength: market.transfers.length }),
        (visits, transfers) => {
          const scores = new Map([...rank(market.resources, visits, transfers)].map(([id, { score }]) => [id, score]))
          for (const [id, score] of before) expect(scores.get(id)).toBeCloseTo(score, 9)
        },
      ),
      { seed: SEED, numRuns: 30 },
    )
  })

  test('counts payers, neither calls nor amounts', () => {
    const market = new Market()
    const two = market.honest('two', 2)
    const three = market.honest('three', 3)
    market.buy(two, 'two payer 0', { settled: 1_000_000 })
    expect(market.scores().get(three)).toBeGreaterThan(market.scores().get(two) ?? 0)
  })

  test('ignores payers funded by the seller', () => {
    const market = new Market()
    const seller = market.honest('seller', 4)
    const before = market.scores().get(seller)
    for (let nth = 0; nth < 20; nth++) {
      market.fund('seller', `own ${String(nth)}`)
      market.buy(seller, `own ${String(nth)}`)
    }
    expect(market.scores().get(seller)).toBe(before)
  })

  test('keeps the customers of a seller that buys elsewhere', () => {
    const market = new Market()
    const seller = market.honest('seller', 3)
    const supplier = market.honest('supplier', 2)
    const before = market.scores()
    market.buy(supplier, 'seller')
    for (const nth of [0, 1, 2]) market.fund(`seller payer ${String(nth)}`, 'seller')
    const scores = market.scores()
    expect(scores.get(seller)).toBe(before.get(seller))
    expect(scores.get(supplier)).toBeGreaterThan(before.get(supplier) ?? 0)
  })

  test('counts customers of one exchange, but less than those with separate sources', () => {
    const market = new Market()
    const sellers = Array.from({ length: 8 }, (_, nth) => market.honest(`seller ${String(nth)}`, 6))
    const own = market.honest('own', 11)
    for (const [nth, seller] of sellers.entries()) {
      for (let customer = 0; customer < 5; customer++) {
        market.fund('exchange', `customer ${String(nth)} ${String(customer)}`)
        market.buy(seller, `customer ${String(nth)} ${String(customer)}`)
      }
    }
    const scores = market.scores()
    for (const seller of sellers) {
      expect(scores.get(seller)).toBeGreaterThan(6 + 1)
      expect(scores.get(seller)).toBeLessThan(scores.get(own) ?? 0)
    }
  })

  test('ranks failing and slow sellers lower, and no single origin can ruin a rate', () => {
    const market = new Market()
    const good = market.honest('good', 6)
    const failing = market.sell('failing')
    const slow = market.sell('slow')
    const attacked = market.honest('attacked', 6)
    for (let nth = 0; nth < 6; nth++) {
      for (const name of ['failing', 'slow'])
        market.fund(`${name} source ${String(nth)}`, `${name} payer ${String(nth)}`)
      market.buy(failing, `failing payer ${String(nth)}`, { failed: 9 })
      market.buy(slow, `slow payer ${String(nth)}`, { waitedMs: 20_000 })
    }
    for (let nth = 0; nth < 50; nth++) {
      market.fund('rival', `saboteur ${String(nth)}`)
      market.buy(attacked, `saboteur ${String(nth)}`, { failed: 1_000 })
    }
    const scores = market.scores()
    const of = (id: bigint): number => scores.get(id) ?? 0
    expect(of(failing)).toBeLessThan(of(good) * 0.8)
    expect(of(slow)).toBeLessThan(of(good))
    expect(of(attacked)).toBeGreaterThan(of(good) * 0.85)
  })

  test('shows the recipient with more payers at one address, or the first of equal ones', () => {
    const market = new Market()
    const owner = market.honest('owner', 3)
    const squatter = market.sell('squatter', 'owner')
    market.buy(squatter, 'squatter itself')
    const first = market.sell('first', 'shared')
    const second = market.sell('second', 'shared')
    const ranks = rank(market.resources, market.visits, market.transfers)
    expect([owner, squatter, first, second].map((id) => ranks.get(id)?.shadowed)).toEqual([false, true, false, true])
  })

  test('lets an entry that is not sold any more shadow no other one, and keeps its rank', () => {
    const market = new Market()
    const [before, now] = [market.sell('before', 'shared'), market.sell('now', 'shared')]
    market.fund('source', 'payer')
    market.buy(before, 'payer')
    const resources = market.resources.map((one) => ({ ...one, isSold: one.id !== before }))
    const ranks = rank(resources, market.visits, market.transfers)
    expect([ranks.get(before), ranks.get(now)]).toMatchObject([{ payers: 1, shadowed: false }, { shadowed: false }])
    expect(ranks.get(before)).toEqual(rank(market.resources, market.visits, market.transfers).get(before))
  })

  test('lets other work in between its parts, more often the more there is to rank', () => {
    const partsOf = (entries: number): number => {
      const market = new Market()
      const sellers = Array.from({ length: entries }, (_, nth) => market.sell(`seller ${String(nth)}`))
      for (let nth = 0; nth < entries * 10; nth++) {
        market.buy(sellers[(nth * 7) % sellers.length] ?? 0n, `payer ${String(nth % (entries * 5))}`)
        market.fund(`source ${String(nth % (entries * 3))}`, `payer ${String(nth % (entries * 5))}`)
      }
      const parts = ranking(market.resources, market.visits, market.transfers)
      let count = 1
      while (parts.next().done !== true) count++
      return count
    }
    const [few, many] = [partsOf(1_000), partsOf(5_000)]
    expect(few).toBeGreaterThan(5)
    expect(many).toBeGreaterThan(few)
  })
})

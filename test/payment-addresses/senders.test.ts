import fc from 'fast-check'
import type { UnsearchedAddress } from '../../service/payment-addresses/model.ts'
import { SEARCH, searchesFor } from '../../service/payment-addresses/rules.ts'

const NOW = new Date('2026-11-27T12:00:00Z')
const [WIDEST, REPLACED] = [1_000n, 64n]

function place(id: number, searchTo: bigint, fromBlock: bigint | null, ageMs = 0): UnsearchedAddress {
  const [address, createdAt] = [`0x${id.toString(16)}`, new Date(NOW.getTime() - ageMs)]
  return { address, searchTo, fromBlock, createdAt } as UnsearchedAddress
}

const shown = (places: UnsearchedAddress[], width = WIDEST) =>
  searchesFor(places, width, NOW).map(({ from, upTo, places: of }) => [from, upTo, of.map(({ address }) => address)])

describe('the searches for the senders of transfers to orders', () => {
  test('are one for those whose transfers lie near each other, and begin some blocks before for a reorganisation', () => {
    expect(shown([place(1, 5_000n, 4_990n), place(2, 5_010n, 4_980n), place(3, 5_020n, 5_015n)])).toEqual([
      [4_980n - REPLACED, 5_020n, ['0x2', '0x1', '0x3']],
    ])
  })

  test('are by themselves, last and in parts for one that reaches far back', () => {
    expect(shown([place(1, 9_000n, 1_000n), place(2, 9_000n, 8_990n), place(3, 9_001n, 8_990n)])).toEqual([
      [8_990n - REPLACED, 9_001n, ['0x2', '0x3']],
      [1_000n - REPLACED, 1_000n - REPLACED + WIDEST - 1n, ['0x1']],
    ])
  })

  test('begin where an order was opened if nobody has looked at it, and go back no further than is searched', () => {
    expect(shown([place(1, 50_000n, null, 20_000)])).toEqual([[50_000n - 10n - REPLACED, 50_000n, ['0x1']]])
    const [from, upTo] = shown([place(1, 50_000n, null, 86_400_000)])[0]!
    expect([from, upTo]).toEqual([50_000n - SEARCH.back, 50_000n - SEARCH.back + WIDEST - 1n])
  })

  test('leave out no block, are never wider than asked, and end, whatever is unread', () => {
    const block = fc.integer({ min: 0, max: 3_000 }).map(BigInt)
    const places = fc.array(fc.tuple(block, fc.option(block)), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(places, fc.integer({ min: Number(SEARCH.narrowest), max: 1_000 }).map(BigInt), (drawn, width) => {
        let left = drawn.map(([searchTo, fromBlock], nth) => place(nth, searchTo, fromBlock))
        const read = new Map<string, bigint>()
        for (let turns = 0; left.length > 0; turns++) {
          if (turns > 3_000) throw new Error('the searches do not end')
          const searches = searchesFor(left, width, NOW)
          const searched = searches.flatMap((search) => search.places)
          if (searched.length !== left.length) throw new Error('an address is searched twice, or not at all')
          for (const { from, upTo, places: of } of searches) {
            if (upTo - from >= width) throw new Error('the search is too wide')
            for (const one of of) {
              const before = read.get(one.address) ?? one.fromBlock ?? one.searchTo
              if (from > before && from !== one.searchTo - SEARCH.back) throw new Error('blocks are left out')
              const end = upTo < one.searchTo ? upTo : one.searchTo
              read.set(one.address, end + 1n)
              left = left.map((each) => (each === one ? { ...one, fromBlock: end + 1n } : each))
            }
          }
          left = left.filter(({ address, searchTo }) => read.get(address) !== searchTo + 1n)
        }
      }),
      { numRuns: 100 },
    )
  })
})

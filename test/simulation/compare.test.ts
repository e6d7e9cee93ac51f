import { judge } from '../bench/compare/judge.ts'
import { figuresOf } from '../bench/compare/tables.ts'
import { generator } from '../harness/random.ts'

/** What decides whether a commit made something slower. */
describe('the comparison of two commits', () => {
  const SEEDS = Array.from({ length: 400 }, (_, seed) => seed)

  /** Ratios of turns on a machine whose pace wanders by a tenth, and where one turn in ten meets something else. */
  function turns(count: number, truth: number, seed: number): number[] {
    const random = generator(seed)
    return Array.from({ length: count }, () => {
      const wander = 1 + (random() - 0.5) * 0.1
      return truth * wander * (random() < 0.1 ? 0.5 + random() : 1)
    })
  }
  const share = (verdict: string, count: number, truth: number): number =>
    SEEDS.filter((seed) => judge(turns(count, truth, seed)).verdict === verdict).length / SEEDS.length

  it('decides nothing with too few turns', () => {
    for (let count = 0; count < 8; count++) expect(judge(turns(count, 0.5, 1)).verdict).toBe('cannot tell')
  })

  it('finds a slowdown with enough turns, without false alarms', () => {
    expect(share('worse', 24, 0.8)).toBeGreaterThan(0.97)
    expect(share('worse', 24, 0.9)).toBeGreaterThan(0.2)
    expect(share('worse', 24, 1)).toBe(0)
    expect(share('not worse', 24, 1)).toBeGreaterThan(0.6)
    expect(share('not worse', 24, 1.2)).toBeGreaterThan(0.97)
    // At the border itself it says either with the confidence that it claims.
    expect(share('worse', 24, 0.95)).toBeLessThan(0.02)
    expect(share('not worse', 24, 0.95)).toBeLessThan(0.02)
  })

  it('has the true median in its interval, however the ratios are spread', () => {
    for (const count of [8, 13, 24]) {
      const inside = SEEDS.filter((seed) => {
        const random = generator(seed)
        // Long-tailed, with a median of 1.
        const ratios = Array.from({ length: count }, () => Math.exp(Math.tan(Math.PI * (random() - 0.5)) / 5))
        const [low, high] = judge(ratios).between ?? [Infinity, -Infinity]
        return low <= 1 && high >= 1
      })
      expect(inside.length / SEEDS.length).toBeGreaterThan(0.97)
    }
  })

  it('reads the rates and medians of every table, and nothing else', () => {
    const output = `
16 at once
| request | at once | a second | p50 ms | p99 ms |
| --- | ---: | ---: | ---: | ---: |
| GET /healthz | 16 | 8745 | 1.35 | 6.40 |
| GET /healthz | 64 | - | | 15.82 |

| verify | | a second | failed |
| --- | --- | ---: | ---: |
| 16 at once | coinslot | 1963.2 | 0 |
| 16 at once | **ratio** | **9.1** |

| memory | WORKERS=1 | 401 MB |
`
    expect(figuresOf(output)).toEqual([
      { row: 'request, GET /healthz, 16', column: 'a second', value: 8745 },
      { row: 'request, GET /healthz, 16', column: 'p50 ms', value: 1.35 },
      { row: 'verify, 16 at once, coinslot', column: 'a second', value: 1963.2 },
    ])
  })
})

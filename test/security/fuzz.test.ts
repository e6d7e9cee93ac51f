import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { fromWire, toWire, usdc, type Usdc } from '../../service/kit/money.ts'
import { faultOf } from './fuzz/judge.ts'
import type { Shot } from './fuzz/oddities.ts'
import { shots } from './fuzz/shots.ts'
import { fire } from './fuzz/wire.ts'
import { openRange, type Range } from './fuzz/world.ts'

const SHOTS = Number(process.env['FUZZ_SHOTS'] ?? 1_000)
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121)
/** The first request to send: the same seed gives the same ones, so a failure can be repeated alone. */
const FROM = Number(process.env['FUZZ_FROM'] ?? 0)
/** Each batch has a seed of its own: the hundred-thousandth request needs none of those before it. */
const MAGAZINE = 500
const AT_ONCE = 8
/** `npm run fuzz` looks at the time of an answer. Elsewhere an answer that takes so long never comes. */
const PATIENCE_MS = Number(process.env['FUZZ_PATIENCE_MS'] ?? 60_000)

/** Every request gets a response in the contract's format, and moves no money. */
describe('malformed requests', () => {
  let range: Range
  beforeAll(async () => {
    range = await openRange()
  })
  afterAll(() => range.close())

  test(
    `${String(SHOTS)} of them, seed ${String(SEED)}`,
    async () => {
      const before = await range.untouched()
      const faults = new Map<string, string[]>()
      const seen = new Map<string, number>()
      let credited = FURNISHED
      let slowest = 0
      let done = 0
      const arbitrary = shots(range.targets)
      const mcp = range.service.served.mounted.filter((path) => path.endsWith('/mcp'))
      expect(mcp.length).toBeGreaterThan(2)
      for (let batch = Math.floor(FROM / MAGAZINE); batch * MAGAZINE < FROM + SHOTS; batch++) {
        const magazine = fc.sample(arbitrary, { seed: SEED + batch, numRuns: MAGAZINE })
        const left = magazine
          .map((shot, place) => [batch * MAGAZINE + place, shot] as const)
          .filter(([at]) => at >= FROM && at < FROM + SHOTS)
        await Promise.all(Array.from({ length: AT_ONCE }, () => gunner(left)))
      }

      async function gunner(left: (readonly [number, Shot])[]): Promise<void> {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          const [at, shot] = next
          const reply = await fire(range.port, shot.bytes, shot.ends, PATIENCE_MS)
          done++
          slowest = Math.max(slowest, reply.ms)
          const status = reply.kind === 'answered' ? String(reply.status) : reply.kind
          seen.set(status, (seen.get(status) ?? 0) + 1)
          if (reply.kind === 'answered' && shot.kind === 'POST /v1/wallet/deposit' && reply.status === 200) {
            if (!reply.headers.has('idempotency-replayed'))
              credited = usdc(credited + exact((JSON.parse(reply.body) as { amount: number }).amount))
          }
          const fault = faultOf(shot, reply, { patienceMs: PATIENCE_MS, mcp })
          if (fault === null) continue
          const name = `${shot.kind}: ${fault}`
          faults.set(name, [...(faults.get(name) ?? []), `${repeat(at)}: ${shown(shot)}`])
        }
      }

      const summary = [...seen].sort().map(([status, times]) => `${status} × ${String(times)}`)
      console.log(
        `${String(done)} requests, seed ${String(SEED)}; slowest ${slowest.toFixed(0)} ms; ${summary.join(', ')}`,
      )
      const report = [...faults].map(([name, of]) => `${String(of.length)} × ${name}\n   ${of[0] ?? ''}`)
      if (process.env['FUZZ_REPORT'] !== undefined) writeFileSync(process.env['FUZZ_REPORT'], report.join('\n\n'))
      expect(report.slice(0, 20)).toEqual([])
      expect(done).toBe(SHOTS)

      // The service still runs, and its data is unchanged.
      expect((await range.service.call('GET', '/readyz')).status).toBe(200)
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
      expect(await range.untouched()).toEqual(before)
      expect(await range.service.ledger.differences()).toEqual([])
      const { wallet } = (await range.attacker.call('GET', '/v1/wallet/balance')).body
      expect(wallet.totalDeposited).toBe(toWire(credited))
    },
    60_000 + SHOTS * 50,
  )
})

/** The account's balance before the first request. */
const FURNISHED = usdc(10_000_000n)

/** The amount that was sent: a number of up to 15 digits is read exactly, a sum of them is not (see `toWire`). */
function exact(amount: number): Usdc {
  const read = fromWire(amount)
  if (typeof read === 'string') throw new Error(`the deposited amount ${String(amount)} ${read}`)
  return read
}

function repeat(at: number): string {
  return `npm run fuzz -- --seed ${String(SEED)} --from ${String(at)} --shots 1`
}

function shown({ bytes, ends }: Shot): string {
  const text = bytes.toString('latin1')
  return `${JSON.stringify(text.length > 1_500 ? `${text.slice(0, 1_500)}…(${String(text.length)} bytes)` : text)}${ends ? ' and the end' : ''}`
}

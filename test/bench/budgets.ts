import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDatabase } from '../../service/database/client.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { usdc } from '../../service/kit/money.ts'
import type { ActOutcome } from '../../service/ledger/model.ts'
import type { Agent, AgentReserve } from '../../service/budgets/model.ts'
import { Batch } from '../../service/kit/batch.ts'
import { agentWith, policyOf, budgetsOn } from '../budgets/harness.ts'

/*
 * Measures what an agent's limits add to a reservation: one run makes the same holds with and without limits in turns,
 * on one server with durable settings. A run takes its hold in one transaction with its row, so the plain reservation
 * here does too. The ledger's single statement is measured as well; only a bare hold costs that little.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const AT_ONCE = (process.env['BENCH_AT_ONCE'] ?? '1,16,64').split(',').map(Number)
const AGENTS = 64

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const embedded = process.env['BENCH_DATABASE_URL'] === undefined ? await startEmbedded({ dataDir: folder }) : null
const url = process.env['BENCH_DATABASE_URL'] ?? embedded?.url ?? ''
await migrate(url)
const database = openDatabase({ url, poolMax: 8 })
try {
  const world = budgetsOn(database.statements, systemClock)
  const { budgets, ledger } = world
  const most = 9_000_000_000_000n
  const policy = policyOf({
    limits: { perCall: most, perMinute: most, perDay: most, perWeek: most, perMonth: most, lifetime: most },
    rate: { callsPerMinute: 1_000_000 },
    rdas: { allow: ['bench-*', 'other'], deny: ['*-denied'] },
    alerts: [{ at: 0.8, limit: null }],
  })
  const agents: Agent[] = []
  for (let count = 0; count < AGENTS; count++) agents.push(await agentWith(world, policy, most))

  const bare = new Batch<AgentReserve, ActOutcome>({
    largest: 256,
    run: (reserves) =>
      ledger.actTogether(
        reserves.map((reserve) => ({ reserve })),
        (_, outcomes) => Promise.resolve(outcomes),
      ),
  })
  const ways = {
    limited: (command: AgentReserve) => budgets.reserve(command),
    plain: (command: AgentReserve) => bare.add(command),
    statement: ({ spender: _, ...command }: AgentReserve) => ledger.reserve(command),
  }
  console.log('| agents | at once | with limits | plain | ratio | lone statement | ratio |')
  console.log('| ---: | ---: | ---: | ---: | ---: | ---: | ---: |')
  for (const spread of [1, AGENTS]) {
    for (const atOnce of AT_ONCE) {
      const rates: Record<keyof typeof ways, number[]> = { limited: [], plain: [], statement: [] }
      for (let round = 0; round < ROUNDS; round++) {
        for (const [name, way] of Object.entries(ways)) {
          rates[name as keyof typeof ways].push(await rate(way, atOnce, spread))
        }
      }
      const ratio = (other: number[]) => median(rates.limited.map((one, round) => one / (other[round] ?? 1))).toFixed(2)
      const cells = [
        spread,
        atOnce,
        median(rates.limited).toFixed(0),
        median(rates.plain).toFixed(0),
        ratio(rates.plain),
        median(rates.statement).toFixed(0),
        ratio(rates.statement),
      ]
      console.log(`| ${cells.join(' | ')} |`)
    }
  }
  const differences = await ledger.differences()
  console.log(
    differences.length === 0 ? 'The ledger is sound.' : `DIFFERENCES: ${JSON.stringify(differences.slice(0, 5))}`,
  )

  async function rate(
    way: (command: AgentReserve) => Promise<unknown>,
    atOnce: number,
    spread: number,
  ): Promise<number> {
    const end = performance.now() + SECONDS * 1_000
    const mark = Math.random().toString(36).slice(2)
    let started = 0
    let done = 0
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (performance.now() < end) {
          const count = started++
          const agent = agents[count % spread]
          if (agent === undefined) throw new Error('every call has an agent')
          const id = `bench_${mark}_${String(count)}`
          await way({
            id,
            owner: agent.owner,
            amount: usdc(1n),
            useCredits: false,
            deadline: new Date(Date.now() + 3_600_000),
            reference: null,
            spender: { agentId: agent.id, kind: 'run', target: 'bench-run', requestHash: id },
          })
          done++
        }
      }),
    )
    return done / SECONDS
  }
} finally {
  await database.close()
  await embedded?.stop()
  rmSync(folder, { recursive: true, force: true })
}

function median(rates: readonly number[]): number {
  return rates.toSorted((one, other) => one - other)[Math.floor(rates.length / 2)] ?? 0
}

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { Agent } from 'undici'
import { ROLES } from '../../service/config.ts'
import { freePort } from '../harness/ports.ts'
import { memoryOf } from '../harness/process.ts'
import { startTopology, type TopologyOptions } from '../system/topology.ts'
import { startUpstream } from './paywall/rivals.ts'
import { KEY, openSurfaces, type Surface } from './system/surfaces.ts'

/*
 * Steady load on each surface in turn: one process on its own embedded database, and one, two and four on PostgreSQL
 * and Redis, each with all roles. Callers go to the processes in turn. With `BENCH_ONLY=WORKERS` it measures what several
 * processes behind one port bring on this machine, however many cores it has; callers want cores of their own then. The caller, the chain, the upstreams, the
 * database and all the processes share this machine's cores: with two of them more processes cannot be faster, they can
 * only show that they do not get in each other's way.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3)
const AT_ONCE = Number(process.env['BENCH_AT_ONCE'] ?? 16)
const ONLY = process.env['BENCH_ONLY']

const SETTINGS = {
  DEMO_API_KEY: KEY,
  ALLOW_HOSTS: '127.0.0.1',
  TOOL_CALLS_AT_ONCE: '0',
  TOOL_PROVIDER_AT_ONCE: '1000',
  GAS_BUDGET_PER_DAY: '0',
  GAS_BUDGET_PER_PAYER_DAY: '0',
  ...Object.fromEntries(
    ['API', 'PAY', 'TOOLS', 'GATE', 'VERIFY', 'SETTLE', 'DRAFT_READS', 'SIGN_IN'].map((name) => [
      `RATE_${name}_PER_MINUTE`,
      '0',
    ]),
  ),
}

/** 1, 2, 4 … and as many as the machine has cores: what `WORKERS` brings on this one. */
const cores = availableParallelism()
const doubled = Array.from({ length: Math.ceil(Math.log2(cores)) + 1 }, (_, power) => Math.min(2 ** power, cores))

const ways: { name: string; options: Pick<TopologyOptions, 'database' | 'redis'>; count: number; workers?: number }[] =
  [
    { name: '1, embedded', options: { database: 'embedded', redis: false }, count: 1 },
    ...[...new Set(doubled)].map((workers) => ({
      ...{ name: `WORKERS=${String(workers)}`, options: { database: 'embedded', redis: true } as const },
      ...{ count: 1, workers },
    })),
    ...[1, 2, 4].map((count) => ({
      name: `${String(count)}, PostgreSQL and Redis`,
      options: { database: 'server', redis: true } as const,
      count,
    })),
  ]

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const notesPort = await freePort()
const notes = fork('test/bench/tools/upstream.mjs', [String(notesPort)], { execArgv: [] })
await once(notes, 'message')
const upstream = await startUpstream()
const agent = new Agent({ connections: AT_ONCE })
console.log(`${String(AT_ONCE)} at once, ${String(SECONDS)} s each\n`)
console.log(
  '| surface | processes | a second | p50 ms | p99 ms | failed | load |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |',
)
try {
  for (const { name, options, count, workers = 1 } of ways) {
    if (ONLY !== undefined && !name.startsWith(ONLY)) continue
    const topology = await startTopology({
      ...options,
      processes: [{ roles: [...ROLES], count, settings: { WORKERS: String(workers) } }],
      chain: true,
      settings: SETTINGS,
    })
    try {
      await topology.ready()
      const addresses = { notes: `http://127.0.0.1:${String(notesPort)}/notes`, free: `${upstream.origin}/free` }
      const surfaces = await openSurfaces(topology, { agent, upstream: addresses, folder })
      for (const surface of surfaces)
        await measure(
          surface,
          name,
          topology.processes.map(({ url }) => url),
        )
      const held = topology.processes.flatMap(({ pid }) => memoryOf(pid() ?? 0))
      console.log(
        `| memory of each process | ${name} | ${held.map((bytes) => `${String(bytes >> 20)} MB`).join(', ')} |`,
      )
    } finally {
      await topology.close()
    }
  }
} finally {
  await agent.close()
  notes.kill('SIGTERM')
  await upstream.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function measure(surface: Surface, processes: string, origins: readonly string[]): Promise<void> {
  // Far more than the service can take: signing payments must not be in the measured time.
  await surface.prepare?.(SECONDS * 400 + 200)
  await during(surface, origins, Math.min(SECONDS / 4, 0.5))
  const { times, failures, seconds } = await during(surface, origins, SECONDS)
  times.sort((a, b) => a - b)
  const at = (part: number): string => (times[Math.floor(times.length * part)] ?? 0).toFixed(1)
  const [reason] = failures
  const failed = reason === undefined ? '0' : `${String(failures.length)} (${reason.slice(0, 120)})`
  const load = loadavg()[0]?.toFixed(1) ?? ''
  console.log(
    `| ${surface.name} | ${processes} | ${(times.length / seconds).toFixed(0)} | ${at(0.5)} | ${at(0.99)} | ${failed} | ${load} |`,
  )
}

async function during(surface: Surface, origins: readonly string[], forSeconds: number) {
  const times: number[] = []
  const failures: string[] = []
  const began = performance.now()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, caller) => {
      const origin = origins[caller % origins.length] ?? ''
      while (performance.now() - began < forSeconds * 1000) {
        const started = performance.now()
        try {
          await surface.send(origin)
          times.push(performance.now() - started)
        } catch (error) {
          failures.push(String(error))
        }
      }
    }),
  )
  return { times, failures, seconds: (performance.now() - began) / 1000 }
}

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { request } from 'undici'
import type { Act } from './journal.ts'
import type { World } from './world.ts'

/**
 * The health of the processes, and how long honest clients wait, with and without thieves. No fault is made meanwhile.
 */
export interface Watch {
  /** From now on there are thieves. */
  beginTheft(): void
  /** From now on faults distort the figures; only memory is still watched. */
  endQuiet(): void
  stop(): Promise<void>
  problems(acts: readonly Act[]): string[]
  figures(acts: readonly Act[]): Record<string, unknown>
}

type Phase = 'quiet' | 'thieves' | 'faults'

/** The promised limit; more is allowed if the machine itself stalled, or if the service stalled without thieves too. */
const STALL_MS = 250
const RSS_MAX_BYTES = 1_000_000_000
const TIMES_SLOWER_MAX = 3
/** On two cores that run all the processes, a response takes this long now and then. */
const SLOW_MS = 5_000

export function startWatch(world: World): Watch {
  let phase: Phase = 'quiet'
  let theftMs = Infinity
  let quietEndMs = Infinity
  let isOver = false
  const stalls: Record<Phase, Map<string, number>> = { quiet: new Map(), thieves: new Map(), faults: new Map() }
  const memory = new Map<string, number>()
  const worked = new Map<string, number>()
  /** How long the machine delays this process, which itself has little to do. */
  const machine = monitorEventLoopDelay({ resolution: 10 })
  const idle: Record<Phase, number> = { quiet: 0, thieves: 0, faults: 0 }
  machine.enable()

  async function look(): Promise<void> {
    const at = phase
    await Promise.all(
      world.topology.processes.map(async ({ name, url }) => {
        const answer = await request(`${url}/metrics`, { headersTimeout: 10_000 }).catch(() => null)
        if (answer?.statusCode !== 200) return
        const text = await answer.body.text().catch(() => '')
        const figure = (metric: string): number => Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
        const cpuMs = 1_000 * figure('process_cpu_seconds_total')
        const workedMs = cpuMs - (worked.get(name) ?? cpuMs)
        worked.set(name, cpuMs)
        // A loop that its own work blocks uses the processor meanwhile; otherwise the machine had no time for it.
        const stallMs = Math.min(1_000 * figure('nodejs_eventloop_lag_max_seconds'), workedMs)
        // A measurement that began before the phase belongs to neither phase.
        if (at === phase) raise(stalls[at], name, stallMs)
        raise(memory, name, figure('process_resident_memory_bytes'))
      }),
    )
    idle[at] = Math.max(idle[at], machine.max / 1e6)
    machine.reset()
  }

  const looking = (async () => {
    // The first look covers the start, which does not count.
    await look()
    stalls.quiet.clear()
    idle.quiet = 0
    while (!isOver) {
      await look()
      await wait(1_000)
    }
  })()

  /** For requests that are answered without the chain. */
  function waitsIn(acts: readonly Act[], fromMs: number, toMs: number): number[] {
    return acts
      .filter(({ kind }) => kind === 'run' || kind === 'tool')
      .flatMap(({ waits }) => waits.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ ms }) => ms))
      .sort((one, other) => one - other)
  }

  function p99Of(acts: readonly Act[]): { quiet: number; thieves: number } {
    const last = (waits: number[]): number => waits[Math.floor(0.99 * (waits.length - 1))] ?? 0
    return { quiet: last(waitsIn(acts, 0, theftMs)), thieves: last(waitsIn(acts, theftMs, quietEndMs)) }
  }

  return {
    beginTheft() {
      phase = 'thieves'
      theftMs = Date.now()
    },
    endQuiet() {
      phase = 'faults'
      quietEndMs = Date.now()
    },
    async stop() {
      isOver = true
      await looking
      machine.disable()
    },
    problems(acts) {
      const problems: string[] = []
      const usual = Math.max(0, ...stalls.quiet.values())
      const allowed = STALL_MS + Math.max(2 * usual, 3 * Math.max(idle.quiet, idle.thieves))
      for (const [name, ms] of stalls.thieves)
        if (ms > allowed)
          problems.push(`the event loop of ${name} stood still for ${ms.toFixed(0)} ms of ${allowed.toFixed(0)}`)
      for (const [name, bytes] of memory)
        if (bytes > RSS_MAX_BYTES) problems.push(`${name} took ${(bytes / 1e6).toFixed(0)} MB`)
      const { quiet, thieves } = p99Of(acts)
      if (thieves > Math.max(SLOW_MS, TIMES_SLOWER_MAX * quiet))
        problems.push(`honest clients waited ${thieves.toFixed(0)} ms beside thieves, ${quiet.toFixed(0)} ms without`)
      return problems
    },
    figures: (acts) => ({
      p99: p99Of(acts),
      idle,
      stalls: { quiet: Object.fromEntries(stalls.quiet), thieves: Object.fromEntries(stalls.thieves) },
      memory: Object.fromEntries([...memory].map(([name, bytes]) => [name, Math.round(bytes / 1e6)])),
    }),
  }
}

function raise(all: Map<string, number>, name: string, value: number): void {
  all.set(name, Math.max(all.get(name) ?? 0, value))
}

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'undici'

export interface Figures {
  rate: number
  p50: number
  p99: number
}

/** Asks again and again for so many seconds, and times each. */
export async function measured(send: () => Promise<void>, atOnce: number, seconds: number): Promise<Figures> {
  const end = performance.now() + seconds * 1000
  const times: number[] = []
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < end) {
        const started = performance.now()
        await send()
        times.push(performance.now() - started)
      }
    }),
  )
  return figuresOf(times, seconds)
}

export function figuresOf(times: number[], seconds: number): Figures {
  times.sort((one, other) => one - other)
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? 0
  return { rate: times.length / seconds, p50: at(0.5), p99: at(0.99) }
}

/** The round of the middle rate. */
export function medianOf(rounds: readonly Figures[]): Figures {
  const sorted = [...rounds].sort((one, other) => one.rate - other.rate)
  return sorted[Math.floor(sorted.length / 2)] ?? { rate: 0, p50: 0, p99: 0 }
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/**
 * The processor time that a process's main thread has used, as Linux counts it; NaN elsewhere. A rate depends on what else
 * the machine does, this hardly. Other threads do what no request waits for, such as compiling.
 */
export function processorMs(pid: number): number {
  try {
    const fields =
      readFileSync(`/proc/${String(pid)}/task/${String(pid)}/stat`, 'utf8')
        .split(') ')[1]
        ?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return NaN
  }
}

/** Linux counts in hundredths of a second. */
const TICK_MS = 10

/** Waits until the address answers 200, at most a minute. */
export async function untilThere(url: string): Promise<void> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline;) {
    const there = await request(url).then(
      async ({ statusCode, body }) => {
        await body.dump()
        return statusCode === 200
      },
      () => false,
    )
    if (there) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`there is nothing at ${url}`)
}

/** PostgreSQL's own tool, where this machine has it. */
export function findPgbench(): string | null {
  const found = spawnSync('sh', ['-c', 'command -v pgbench || ls /usr/lib/postgresql/*/bin/pgbench | tail -1'], {
    encoding: 'utf8',
  })
  const name = found.stdout.trim()
  return name === '' ? null : name
}

/** How often a second these statements ran. */
export function throughPgbench(
  pgbench: string,
  script: { file: string; text: string; url: string },
  atOnce: number,
  seconds: number,
): number {
  writeFileSync(script.file, script.text)
  const run = spawnSync(
    pgbench,
    ['-n', '-M', 'prepared', '-c', String(atOnce), '-j', '2', '-T', String(seconds), '-f', script.file, script.url],
    { encoding: 'utf8' },
  )
  const tps = /tps = ([\d.]+)/.exec(run.stdout)?.[1]
  if (run.status !== 0 || tps === undefined) throw new Error(`pgbench failed: ${run.stderr}`)
  return Number(tps)
}

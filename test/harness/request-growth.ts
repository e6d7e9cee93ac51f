import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'undici'

/** A request that can be made larger. */
export interface GrowingRequest {
  name: string
  /** The largest body that is sent, in bytes. */
  largest: number
  make(size: number): { method: string; path: string; headers: Record<string, string>; body: Buffer | null }
}

/** The cost of requests by the serving process's own metrics, so that other processes' load is not in it. */
interface Cost {
  cpuMs: number
  /** The longest time that its event loop was blocked. */
  stallMs: number
  grownBytes: number
}

const FACTOR = 4
/** Linear work has 4 here, quadratic work 16. */
const RATIO_MAX = 10
/** Below this, the time of a response over HTTP reflects the machine more than the work. */
const TELLING_MS = 60
const STALL_MS = 250
/** Below this, the garbage collector decides how much memory a process has. */
const TELLING_BYTES = 128 * 1_048_576
/** Sent at once, so that their memory adds up before it is collected. */
const AT_ONCE = 4

/**
 * The same of many: those that cost nothing worth a look together are not looked at one by one. Answers how many were
 * looked at before the time was up.
 */
export async function growthOfRequests(
  origin: string,
  pid: number,
  { works, until }: { works: readonly GrowingRequest[]; until: number },
): Promise<{ faults: string[]; measured: number }> {
  const cost = await watched(origin, pid, async () => {
    for (const work of works) await send(origin, work.make(work.largest))
  })
  if (isQuick({ ...cost, cpuMs: cost.cpuMs / 2 })) return { faults: [], measured: works.length }
  const faults: string[] = []
  let measured = 0
  for (; measured < works.length && performance.now() < until; measured++) {
    const fault = await growthOfRequest(origin, pid, works[measured]!)
    if (fault !== null) faults.push(fault)
  }
  return { faults, measured }
}

function isQuick({ cpuMs, grownBytes }: Cost): boolean {
  return cpuMs < TELLING_MS && grownBytes < TELLING_BYTES / AT_ONCE
}

/**
 * Null while the time and the memory of answering grow with the request and no faster, and no single answer stops the
 * others; else what was seen. Time counts when it is seen twice; memory at once, for a process keeps what it had.
 */
export async function growthOfRequest(origin: string, pid: number, work: GrowingRequest): Promise<string | null> {
  const large = work.make(work.largest)
  if (isQuick(await watched(origin, pid, () => send(origin, large)))) return null
  const first = await fault()
  if (first === null || first.of === 'memory') return first?.text ?? null
  return (await fault())?.text ?? null

  async function fault(): Promise<{ of: 'time' | 'memory'; text: string } | null> {
    const small = work.make(work.largest / FACTOR)
    const cheap = await watched(origin, pid, () => times(AT_ONCE, small))
    const dear = await watched(origin, pid, () => times(AT_ONCE, large))
    // One by one: the four at once may block the loop together, though none of them does alone.
    const alone = await watched(origin, pid, () => send(origin, large))
    const stallMs = Math.min(alone.stallMs, alone.cpuMs)
    const found = (of: 'time' | 'memory', text: string) => ({ of, text: `${work.name}: ${text}` })
    if (stallMs > STALL_MS) return found('time', `the event loop stood still for ${stallMs.toFixed(0)} ms`)
    const ratio = dear.cpuMs / Math.max(cheap.cpuMs, 1)
    if (dear.cpuMs > AT_ONCE * TELLING_MS && ratio > RATIO_MAX)
      return found('time', `four times the size took ${ratio.toFixed(0)} times as long`)
    const more = dear.grownBytes / Math.max(cheap.grownBytes, TELLING_BYTES / RATIO_MAX)
    if (dear.grownBytes > TELLING_BYTES && more > RATIO_MAX)
      return found('memory', `four times the size took ${more.toFixed(0)} times the memory`)
    return null
  }

  async function times(count: number, each: ReturnType<GrowingRequest['make']>): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => send(origin, each)))
  }
}

async function send(
  origin: string,
  { method, path, headers, body }: ReturnType<GrowingRequest['make']>,
): Promise<void> {
  try {
    const answer = await request(origin + path, {
      method: method as 'POST',
      headers,
      body,
      headersTimeout: PATIENCE_MS,
      // A server that stood still closes the connections that it kept: a request on one of them would cost nothing.
      reset: true,
    })
    // An event stream has no end: only the cost of opening it is measured.
    const late = setTimeout(() => answer.body.destroy(), STREAMED_MS)
    await answer.body.dump().finally(() => {
      clearTimeout(late)
    })
  } catch {
    // A refusal in the middle of the body counts as a response: only its cost matters.
  }
}

const PATIENCE_MS = 20_000
const STREAMED_MS = 1_000

async function watched(origin: string, pid: number, work: () => Promise<void>): Promise<Cost> {
  const before = await measure(origin)
  await resetPeak(pid)
  await work()
  const peak = await peakBytes(pid)
  const after = await measure(origin)
  return {
    cpuMs: 1_000 * (after.cpu - before.cpu),
    stallMs: 1_000 * after.lag,
    grownBytes: (peak ?? after.memory) - before.memory,
  }
}

/** The process's own metrics; the lag is that since the last look. */
async function measure(origin: string): Promise<{ cpu: number; lag: number; memory: number }> {
  const { body } = await request(`${origin}/metrics`, { reset: true })
  const text = await body.text()
  const figure = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  const [cpu, lag] = [figure('process_cpu_seconds_total'), figure('nodejs_eventloop_lag_max_seconds')]
  const memory = figure('process_resident_memory_bytes')
  if (Number.isNaN(cpu + lag + memory)) throw new Error('the metrics do not say what an answer costs')
  return { cpu, lag, memory }
}

/** Linux records a process's peak memory, and resets it on request; elsewhere the memory left afterwards counts. */
async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${String(pid)}/clear_refs`, '5').catch(() => undefined)
}

async function peakBytes(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${String(pid)}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(text)?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) * 1_024
}

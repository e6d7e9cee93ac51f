import { Caller } from './caller.ts'
import type { Payment } from './payments.ts'

export interface Outcome {
  /** Successes a second, until the last answer was there. */
  rate: number
  p50: number
  p99: number
  successes: number
  /** How often each reason was given. */
  failures: Map<string, number>
  hashes: Hash[]
  unused: Payment[]
}

export type Hash = `0x${string}`

/** A response that waits for a block takes seconds; one that takes longer than this will not come. */
const PATIENCE_MS = 30_000

/** Runs this many callers. Each sends its next request as soon as it has a response, until time or payments run out. */
export async function load(
  { origin, path }: { origin: string; path: '/verify' | '/settle' },
  payments: readonly Payment[],
  { atOnce, seconds }: { atOnce: number; seconds: number },
): Promise<Outcome> {
  const callers = Array.from({ length: atOnce }, () => new Caller(origin + path))
  const times: number[] = []
  const failures = new Map<string, number>()
  const hashes: Hash[] = []
  let next = 0
  const began = performance.now()
  const end = began + seconds * 1000
  try {
    await Promise.all(
      callers.map(async (caller) => {
        while (performance.now() < end) {
          // A verification changes nothing, so the same payments do for all of them.
          const payment = path === '/verify' ? payments[next++ % payments.length] : payments[next++]
          if (payment === undefined) return
          const started = performance.now()
          const refusal = await send(caller, payment)
          if (refusal === null) times.push(performance.now() - started)
          else failures.set(refusal, (failures.get(refusal) ?? 0) + 1)
        }
      }),
    )
  } finally {
    for (const caller of callers) caller.close()
  }
  const elapsed = (performance.now() - began) / 1000
  times.sort((a, b) => a - b)
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? 0
  return {
    rate: times.length / elapsed,
    p50: at(0.5),
    p99: at(0.99),
    successes: times.length,
    failures,
    hashes,
    unused: path === '/verify' ? [] : payments.slice(next),
  }

  /** The reason where it was refused. */
  async function send(caller: Caller, payment: Payment): Promise<string | null> {
    try {
      const body = await caller.post(payment, PATIENCE_MS)
      // Parsing every response would take processor time from the service under test.
      if (body.includes('"isValid":true')) return null
      const answer = JSON.parse(body) as Partial<Answer>
      if (answer.success === true && answer.transaction !== undefined) hashes.push(answer.transaction)
      if (answer.success === true) return null
      return (answer.errorReason ?? answer.invalidReason ?? body).slice(0, 60)
    } catch (error) {
      return (error as { code?: string }).code ?? String(error)
    }
  }
}

interface Answer {
  invalidReason: string
  success: boolean
  transaction: Hash
  errorReason: string
}

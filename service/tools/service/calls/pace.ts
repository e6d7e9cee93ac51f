import { setTimeout as wait } from 'node:timers/promises'
import type { Credentials } from '../../../connections/model.ts'
import type { Clock } from '../../../kit/clock.ts'
import { canonicalHash } from '../../../kit/hash.ts'
import { providerResting } from '../../errors/call.ts'
import type { Tool, UpstreamAnswer } from '../../model/tool.ts'
import { restOf } from '../../rules/answer.ts'

/**
 * Servers that want no more calls for a while (429) get none: a key that was refused rests, another one takes its turn,
 * and calls wait where all rest. When a rest is over, one call tries first; the others go on once it is not refused.
 */
export function createPace({ timeoutMs, clock }: { timeoutMs: number; clock: Clock }) {
  const rests = new Map<string, Rest>()
  let turns = 0

  /** The keys take turns. Where all of them rest, the one whose rest ends first. */
  function choose(names: readonly string[]): { place: number; rest: Rest | null } {
    const all = names.map((name, place) => ({ place, rest: rests.get(name) ?? null }))
    const free = all.filter(({ rest }) => rest === null)
    const [first, ...others] = free.length > 0 ? free.slice(turns++ % free.length) : all
    if (first === undefined) throw new Error('a call has no key, not even an empty one')
    if (first.rest === null) return first
    return others.reduce((best, one) => ((one.rest?.until ?? 0) < (best.rest?.until ?? 0) ? one : best), first)
  }

  function note(name: string, restMs: number | null): void {
    const before = rests.get(name)
    if (restMs === null) rests.delete(name)
    else {
      const [oldest] = rests.keys()
      if (rests.size >= RESTS_MAX && oldest !== undefined) rests.delete(oldest)
      rests.set(name, { until: performance.now() + restMs, trial: null })
    }
    before?.trial?.end()
  }

  /** The key that may be used now. Null where none may in time. */
  async function enter(names: readonly string[], { last, signal }: Within): Promise<Entered | null> {
    for (;;) {
      const { place, rest } = choose(names)
      if (rest === null) return { place, tries: null }
      const left = rest.until - performance.now()
      if (rest.until > last) return null
      if (left > 0) await wait(left, undefined, { signal })
      else if (rest.trial === null) return { place, tries: (rest.trial = newTrial()) }
      else await rest.trial.ended
      signal.throwIfAborted()
    }
  }

  return {
    /** Asks with one key after the other, until the server answers with something else or the time is over. */
    async ask(tool: Tool, keys: readonly Credentials[], { signal, send }: PacedCall): Promise<UpstreamAnswer> {
      const last = performance.now() + timeoutMs * WAITED
      const names = keys.map((key) => keyName(tool, key))
      let answer: UpstreamAnswer | null = null
      for (let times = 0; times < keys.length + REPEATED; times++) {
        const entered = await enter(names, { last, signal })
        if (entered === null) break
        const { place, tries } = entered
        const [name, key] = [names[place], keys[place]]
        if (name === undefined || key === undefined) throw new Error('a call has no key, not even an empty one')
        try {
          answer = await send(key)
        } catch (error) {
          tries?.end()
          const rest = rests.get(name)
          if (tries !== null && rest?.trial === tries) rest.trial = null
          throw error
        }
        const restMs = restOf(answer, clock.now())
        if (restMs !== null || tries !== null) note(name, restMs)
        if (restMs === null) return answer
      }
      if (answer === null) throw providerResting(tool.provider, secondsOf(rests.get(names[0] ?? '')))
      return answer
    },
  }
}

interface Rest {
  until: number
  /** The first call after the rest; the others wait for how it ends. */
  trial: Trial | null
}

interface Trial {
  ended: Promise<void>
  end(): void
}

function newTrial(): Trial {
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { ended, end }
}

interface Entered {
  place: number
  tries: Trial | null
}

interface Within {
  last: number
  signal: AbortSignal
}

interface PacedCall {
  signal: AbortSignal
  send: (key: Credentials) => Promise<UpstreamAnswer>
}

/** One of a provider's keys, without the key. */
export function keyName({ environment, ownerId, provider }: Tool, { secrets }: Credentials): string {
  return canonicalHash([environment, ownerId, provider, secrets]).toString('base64')
}

function secondsOf(rest: Rest | undefined): number {
  return Math.max(1, Math.ceil(((rest?.until ?? 0) - performance.now()) / 1_000))
}

/** The part of a call's time in which it may wait for a key. */
const WAITED = 0.8
/** So often a call is repeated after each key has been refused once. */
const REPEATED = 3
const RESTS_MAX = 10_000

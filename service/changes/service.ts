import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Owner } from '../kit/owner.ts'
import { DomainError } from '../kit/errors.ts'
import type { ChangeStore, Marks, News } from './model.ts'
import { changedBetween, restAfter } from './model.ts'

/**
 * Tells the open pages of an account what kinds of things changed, whichever process changed them: one query for all
 * followed accounts about once a second, however many they are, and none while there are no followers. A NOTIFY in the
 * change's own transaction would be sooner, but takes a lock over the whole database in each commit that moves money;
 * and a message between processes can get lost, where a row cannot.
 */
export function createChanges({ store, clock, log, leastMs }: ChangesDeps) {
  const followed = new Map<string, Followed>()
  let timer: NodeJS.Timeout | null = null
  let closed = false

  async function lookAt(those: readonly Followed[]): Promise<void> {
    try {
      const found = await store.marks(those.map(({ owner }) => owner))
      those.forEach((one, place) => {
        one.marks = found[place] ?? one.marks
      })
    } catch (error) {
      log.warn({ err: error }, 'followed accounts could not be checked')
    }
    for (const { wakes } of those) for (const wake of wakes) wake()
  }

  function rest(ms: number): void {
    if (closed || timer !== null || followed.size === 0) return
    timer = setTimeout(() => void round(), ms).unref()
  }

  async function round(): Promise<void> {
    const started = performance.now()
    await lookAt([...followed.values()])
    timer = null
    rest(restAfter(performance.now() - started, leastMs))
  }

  function join(owner: Owner, wake: () => void): Followed {
    const key = keyOf(owner)
    const known = followed.get(key)
    if (known !== undefined) {
      if (known.wakes.size >= PER_ACCOUNT) {
        throw new DomainError('limited', 'too_many_streams', 'Too many pages of this account are open at once.')
      }
      known.wakes.add(wake)
      return known
    }
    const one: Followed = { owner, marks: null, wakes: new Set([wake]) }
    followed.set(key, one)
    // At once: a state of a second later must not be taken for the state at the beginning.
    void lookAt([one])
    rest(restAfter(0, leastMs))
    return one
  }

  function leave(one: Followed, wake: () => void): void {
    one.wakes.delete(wake)
    if (one.wakes.size === 0) followed.delete(keyOf(one.owner))
  }

  return {
    /**
     * A place among an account's followers, or a refusal; its news from then on, until the listener leaves or its session
     * ends. Each follower has its own marks: a slow reader gets the changes of several rounds at once, and none twice.
     */
    follow(owner: Owner, { from, gone, isStillThere }: Following): AsyncGenerator<News> {
      let ring: () => void = () => undefined
      let rung = false
      const wake = (): void => {
        rung = true
        ring()
      }
      const one = join(owner, wake)
      const stop = (): void => {
        leave(one, wake)
        wake()
      }
      gone.addEventListener('abort', stop, { once: true })
      if (gone.aborted) stop()
      let checkedAt = clock.now()

      async function isOver(): Promise<boolean> {
        if (clock.now().getTime() - checkedAt.getTime() < CHECK_MS) return false
        checkedAt = clock.now()
        return !(await isStillThere())
      }

      async function* news(): AsyncGenerator<News> {
        let last = from
        for (let isFirst = true; !gone.aborted && !closed;) {
          if (await isOver()) {
            yield { over: true }
            return
          }
          if (one.marks !== null) {
            const kinds = last === null ? [] : changedBetween(last, one.marks)
            last = one.marks
            if (isFirst || kinds.length > 0) yield { kinds, marks: last }
            isFirst = false
          }
          if (!rung) await new Promise<void>((resolve) => (ring = resolve))
          rung = false
        }
      }
      return news()
    },

    close(): void {
      closed = true
      if (timer !== null) clearTimeout(timer)
      for (const { wakes } of followed.values()) for (const wake of wakes) wake()
      followed.clear()
    },
  }
}

interface ChangesDeps {
  store: ChangeStore
  clock: Clock
  log: Log
  leastMs: number
}

interface Following {
  /** Where an earlier stream ended; null for a new follower. */
  from: Marks | null
  gone: AbortSignal
  /** Asked now and then: a stream must not outlive the session that opened it. */
  isStillThere(): Promise<boolean>
}

interface Followed {
  owner: Owner
  /** Null before the first look. */
  marks: Marks | null
  wakes: Set<() => void>
}

/** Pages in sight, in one process: those in the background do not follow. */
const PER_ACCOUNT = 12
const CHECK_MS = 15_000

function keyOf({ environment, userId }: Owner): string {
  return `${environment} ${userId}`
}

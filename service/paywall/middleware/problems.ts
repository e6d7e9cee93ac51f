import type { Clock } from '../../kit/clock.ts'
import { Recent } from '../../kit/recent.ts'

export type Tell = (problem: unknown, sentence: string) => void

/** Reports each sentence at most once in ten minutes: every request meets what stops all sales. */
export function seldom(tell: Tell | undefined, clock: Clock): Tell {
  const reported = new Recent<string, true>(SENTENCES_MAX, { clock, forMs: AGAIN_MS })
  return (problem, sentence) => {
    if (reported.get(sentence) === true) return
    reported.put(sentence, true)
    try {
      tell?.(problem, sentence)
    } catch {
      // The seller's log may fail, and the buyer is answered all the same.
    }
  }
}

const SENTENCES_MAX = 100
const AGAIN_MS = 600_000

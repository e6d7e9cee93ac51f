import type { Clock } from '../../kit/clock.ts'
import { Recent } from '../../kit/recent.ts'

export type Tell = (problem: unknown, sentence: string) => void

/** What stops all sales is met by each request, so the seller hears of the same at most once in ten minutes. */
export function seldom(tell: Tell | undefined, clock: Clock): Tell {
  const told = new Recent<string, true>(SENTENCES_MAX, { clock, forMs: AGAIN_MS })
  return (problem, sentence) => {
    if (told.get(sentence) === true) return
    told.put(sentence, true)
    try {
      tell?.(problem, sentence)
    } catch {
      // Whoever is told does not decide what a buyer is answered.
    }
  }
}

const SENTENCES_MAX = 100
const AGAIN_MS = 600_000

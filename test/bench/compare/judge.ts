/** How the new commit stands to the old one in one row: above 1 is better. */
export interface Judgement {
  verdict: 'worse' | 'not worse' | 'cannot tell'
  median: number
  /** Where the true median ratio is, with a confidence of at least 99 %; null with too few turns. */
  between: [number, number] | null
}

/** So much slower is worse. */
export const WORSE_BELOW = 0.95
const CONFIDENCE = 0.99

/**
 * Judges by the ratios of turns that ran one after the other. Nothing is assumed of how they are spread: the interval of a
 * median follows from their order alone, so that a turn in which the machine did something else counts as one turn.
 */
export function judge(ratios: readonly number[]): Judgement {
  const sorted = ratios.toSorted((a, b) => a - b)
  const median = ((sorted[(sorted.length - 1) >> 1] ?? 1) + (sorted[sorted.length >> 1] ?? 1)) / 2
  const left = leftOut(sorted.length)
  const low = sorted[left - 1]
  const high = sorted[sorted.length - left]
  if (left === 0 || low === undefined || high === undefined) return { verdict: 'cannot tell', median, between: null }
  const verdict = high < WORSE_BELOW ? 'worse' : low >= WORSE_BELOW ? 'not worse' : 'cannot tell'
  return { verdict, median, between: [low, high] }
}

/** The place from either end where the interval begins; 0 where all turns together are too few. */
function leftOut(turns: number): number {
  let tail = 0
  let probability = 0.5 ** turns
  for (let place = 0; place <= turns / 2; place++) {
    tail += probability
    if (tail > (1 - CONFIDENCE) / 2) return place
    probability *= (turns - place) / (place + 1)
  }
  return Math.floor(turns / 2)
}

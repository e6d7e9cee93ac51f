/**
 * When a row that has now failed `failures` times is due again; null when its schedule is used up. Jitter
 * only ever adds, up to a fifth, so that nothing is tried earlier than its schedule promises, and what
 * failed together does not come back together. `chance` is from 0 to 1.
 */
export function nextTry(delaysMs: readonly number[], failures: number, now: Date, chance: number): Date | null {
  const delayMs = delaysMs[failures - 1]
  if (delayMs === undefined) return null
  return new Date(now.getTime() + Math.round(delayMs * (1 + 0.2 * chance)))
}

/** BullMQ refuses ids that are plain numbers, and a colon is its own separator. */
export function jobIdOf(job: { id: string; attempt: number }): string {
  return `${job.id}-${String(job.attempt)}`
}

export function jobOf(jobId: string): { id: string; attempt: number } | null {
  const match = /^(\d+)-(\d+)$/.exec(jobId)
  return match === null ? null : { id: String(match[1]), attempt: Number(match[2]) }
}

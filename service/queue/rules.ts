/**
 * When a row that has failed `failures` times is due again. Null when its schedule is used up. Jitter only adds time,
 * at most a fifth, so that nothing is tried earlier than scheduled, and rows that failed together do not return
 * together. `chance` is from 0 to 1.
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

import { DomainError } from '../kit/errors.ts'
import type { Owner } from '../kit/owner.ts'
import { createThreads } from '../kit/threads.ts'
import type { Paper } from './model.ts'
import { startThread, type Job, type Result } from './worker.ts'

/** Sets papers as PDF, in a thread of its own: accounts take turns, and requests that nothing waits for go on. */
export function createPdf() {
  const threads = createThreads<Result>({
    startThread,
    threads: THREADS,
    limitMs: LIMIT_MS,
    perAccount: 1,
    waitingMax: WAITING_MAX,
  })
  let open = 0
  return {
    async render(paper: Paper, { userId }: Owner): Promise<Buffer> {
      if (open >= OPEN_MAX) throw busy()
      open++
      try {
        const outcome = await threads.run({ paper } satisfies Job, userId)
        if (outcome === 'crowded') throw busy()
        if (typeof outcome === 'string') throw unfinished()
        if (outcome.fault !== null) throw unfinished().causedBy(new Error(outcome.fault))
        return Buffer.from(outcome.bytes)
      } finally {
        open--
      }
    },
    close: () => threads.close(),
  }
}

function busy(): DomainError {
  const sentence = 'Too many documents are being made right now. Nothing is lost: try again in a few seconds.'
  return new DomainError('limited', 'documents_waiting', sentence, { retryAfterSeconds: 5 })
}

function unfinished(): DomainError {
  return new DomainError('upstream', 'document_failed', 'The document could not be made. Try again.')
}

const THREADS = 1
/** The first document of a thread reads the fonts. */
const LIMIT_MS = 10_000
/** Of one account. */
const WAITING_MAX = 10
/** Of all accounts. */
const OPEN_MAX = 100

import { z } from 'zod'
import type { Topic } from '../queue/model.ts'
import { CONFIRMATION, RESET, type Identity } from './service.ts'

export function identityTopics(identity: Identity): Topic<{ subject: string }>[] {
  return [
    { ...mail, topic: CONFIRMATION, handle: ({ subject }, { id }) => identity.sendConfirmation(subject, id) },
    { ...mail, topic: RESET, handle: ({ subject }, { id }) => identity.sendReset(subject, id) },
  ]
}

const mail = { decode: z.object({ subject: z.string() }), concurrency: 4, timeoutMs: 30_000 }

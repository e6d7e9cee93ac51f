import { z } from 'zod'
import type { Topic } from '../queue/model.ts'
import { CONFIRMATION, type Identity } from './service.ts'

export function identityTopics(identity: Identity): Topic<{ subject: string }>[] {
  return [
    {
      topic: CONFIRMATION,
      decode: z.object({ subject: z.string() }),
      handle: ({ subject }, context) => identity.sendConfirmation(subject, context.id),
      concurrency: 4,
      timeoutMs: 30_000,
    },
  ]
}

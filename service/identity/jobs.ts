import { z } from 'zod'
import type { Topic } from '../queue/model.ts'
import { CONFIRMATION, EMAIL_CHANGE, NOTICE, RESET, type Identity } from './service/identity.ts'

export function identityTopics(identity: Identity): Topic[] {
  return [
    mail(CONFIRMATION, person, ({ subject }, { id }) => identity.sendConfirmation(subject, id)),
    mail(RESET, person, ({ subject }, { id }) => identity.sendReset(subject, id)),
    mail(EMAIL_CHANGE, emailChange, identity.sendEmailChange),
    mail(NOTICE, told, identity.sendNotice),
  ]
}

function mail<Payload>(topic: string, decode: z.ZodType<Payload>, handle: Topic<Payload>['handle']): Topic {
  return { topic, decode, handle: (payload, context) => handle(payload as Payload, context), ...PACE }
}

/** A person is sent a limited number of these. */
const PACE = { concurrency: 4, turns: null, timeoutMs: 30_000 }

const person = z.object({ subject: z.string() })
const emailChange = z.object({ subject: z.string(), from: z.string(), to: z.string() })
const told = z.object({
  to: z.string(),
  notice: z.discriminatedUnion('kind', [
    z.object({ kind: z.enum(['wallet-connected', 'wallet-removed']), address: z.string() }),
    z.object({ kind: z.literal('password-changed') }),
    z.object({ kind: z.literal('email-changed'), email: z.string() }),
    z.object({
      kind: z.literal('key-created'),
      environment: z.enum(['sandbox', 'production']),
      name: z.string(),
      lastFour: z.string(),
    }),
    z.object({
      kind: z.literal('payout-address'),
      environment: z.enum(['sandbox', 'production']),
      address: z.string().nullable(),
    }),
  ]),
})

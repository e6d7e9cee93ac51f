import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import type { Hook, HookEvent } from '../service/hook.ts'

/**
 * The identity provider's messages, in the format of Standard Webhooks or of Svix, which differ only in header names.
 */
export function hookRoute(hook: Hook): AnyRoute {
  return route({
    method: 'post',
    path: '/hooks/identity',
    summary: "Receive the identity provider's signed events",
    tag: 'Wallet',
    auth: 'anyone',
    body: z.unknown(),
    answers: { 200: z.object({ received: z.boolean(), credited: z.int() }) },
    errors: { 401: 'The signature is missing or wrong.', 404: 'No identity provider is configured.' },
    async handle({ body, header, rawBody }) {
      const named = (name: string): string => header(`webhook-${name}`) ?? header(`svix-${name}`) ?? ''
      const [id, timestamp, signature] = [named('id'), named('timestamp'), named('signature')]
      hook.assertSigned({ id, timestamp, signature, body: rawBody })
      const { credited } = await hook.take(eventOf(body))
      return reply(200, { received: true, credited })
    },
  })
}

/** A signed message of an unknown kind is not the provider's fault, so it is accepted and ignored. */
function eventOf(body: unknown): HookEvent {
  const deposited = fundsDeposited.safeParse(body)
  if (deposited.success) return deposited.data
  const created = userCreated.safeParse(body)
  return created.success ? created.data : { type: 'other' }
}

const hash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((text) => text.toLowerCase() as `0x${string}`)

/** Some providers put the fields at the top level, others under `data`. */
function unwrapped<Body extends z.ZodType>(body: Body) {
  return z.preprocess((value) => {
    const { data, ...rest } = (value ?? {}) as { data?: unknown }
    return typeof data === 'object' && data !== null ? { ...rest, ...data } : value
  }, body)
}

const fundsDeposited = unwrapped(
  z
    .object({
      type: z.literal('wallet.funds_deposited'),
      transaction_hash: hash.optional(),
      transactionHash: hash.optional(),
      caip2: z.string().optional(),
      network: z.string().optional(),
    })
    .transform((event, context): HookEvent => {
      const transactionHash = event.transaction_hash ?? event.transactionHash
      if (transactionHash !== undefined) {
        return { type: 'funds_deposited', transactionHash, network: event.caip2 ?? event.network ?? null }
      }
      context.addIssue({ code: 'custom', message: 'must name a transaction' })
      return z.NEVER
    }),
)

const user = z.object({
  id: z.string().min(1).max(256),
  name: z.string().nullish(),
  email: z.union([z.string(), z.object({ address: z.string() })]).nullish(),
  email_verified: z.boolean().nullish(),
})

const userCreated = unwrapped(
  z
    .object({ type: z.literal('user.created'), user: user.optional() })
    .loose()
    .transform((event, context): HookEvent => {
      const parsed = user.safeParse(event.user ?? event)
      if (!parsed.success) {
        context.addIssue({ code: 'custom', message: 'must name a user' })
        return z.NEVER
      }
      const { id: subject, name = null, email = null } = parsed.data
      const address = typeof email === 'string' ? email : (email?.address ?? null)
      const emailConfirmed = address !== null && parsed.data.email_verified === true
      return { type: 'user_created', person: { subject, name, email: address, emailConfirmed } }
    }),
)

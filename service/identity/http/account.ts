import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { ONE_LINE } from '../../kit/text.ts'
import { page, timestamp } from '../../kit/wire.ts'
import type { ApiKey, SigningSecret } from '../model.ts'
import type { Caller } from '../../kit/caller.ts'
import type { WalletOf } from '../ports.ts'
import { HANDLE, HANDLE_LENGTH, RESERVED_HANDLES } from '../rules.ts'
import type { Identity } from '../service/identity.ts'

export function identityRoutes(identity: Identity, walletOf: WalletOf): AnyRoute[] {
  return [...meRoutes(identity, walletOf), ...keyRoutes(identity), ...signingSecretRoutes(identity)]
}

function meRoutes(identity: Identity, walletOf: WalletOf): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/me',
      summary: 'Get the calling account and its environment',
      tag: 'Account',
      auth: 'agent',
      answers: { 200: meBody },
      handle: async ({ caller }) => reply(200, await toMe(caller, identity, walletOf)),
    }),
    route({
      method: 'patch',
      path: '/me',
      summary: 'Choose the handle under which everyone finds your active checkouts, published RDAs and paid routes',
      tag: 'Account',
      auth: 'person',
      body: handleBody,
      answers: { 200: meBody },
      errors: { 404: 'No account has signed up with this token.', 409: 'Another account has this handle.' },
      async handle({ caller, body }) {
        await identity.setHandle(caller, body.handle)
        return reply(200, await toMe(caller, identity, walletOf))
      },
    }),
    route({
      method: 'post',
      path: '/me',
      summary: 'Sign up with a token of the configured identity provider',
      tag: 'Account',
      auth: 'person',
      idempotent: true,
      answers: { 200: meBody, 201: meBody },
      async handle({ caller, address }) {
        const signedUp = await identity.signUpCaller(caller, address)
        return reply(signedUp.created ? 201 : 200, await toMe(signedUp.caller, identity, walletOf))
      },
    }),
  ]
}

function keyRoutes(identity: Identity): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/keys',
      summary: 'Your API keys in this environment, newest first',
      tag: 'Account',
      auth: 'person',
      query: page,
      answers: { 200: z.object({ keys: z.array(keyBody), total: z.int(), limit: z.int(), offset: z.int() }) },
      errors: { 404: 'No account has signed up with this token.' },
      async handle({ caller, query }) {
        const { keys, total } = await identity.keys.list(caller, query)
        return reply(200, { keys: keys.map(toKey), total, ...query })
      },
    }),
    route({
      method: 'post',
      path: '/keys',
      summary: 'Create an API key; only this response contains its secret',
      tag: 'Account',
      auth: 'person',
      idempotent: true,
      body: newKeyBody,
      answers: { 201: z.object({ key: keyBody, secret: z.string().nullable() }) },
      errors: {
        404: 'No account has signed up with this token.',
        409: 'The Idempotency-Key was used for another request.',
      },
      async handle({ caller, body, operation }) {
        const wanted = { name: body.name, agentId: body.agentId ?? null, expiresAt: body.expiresAt ?? null }
        const { key, secret } = await identity.keys.create(caller, wanted, operation)
        const shown = { key: toKey(key), secret }
        return { ...reply(201, shown), replayBody: { ...shown, secret: null } }
      },
    }),
    route({
      method: 'delete',
      path: '/keys/:id',
      summary: 'Revoke a key immediately',
      tag: 'Account',
      auth: 'person',
      params: z.object({ id: z.string() }),
      answers: { 204: z.undefined() },
      errors: { 404: 'You have no such key in this environment.' },
      async handle({ caller, params }) {
        await identity.keys.revoke(caller, params.id)
        return reply(204, undefined)
      },
    }),
  ]
}

function signingSecretRoutes({ signingSecrets }: Identity): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/signing-secret',
      summary: "The secret that signs calls to your agents' webhooks and run webhooks",
      tag: 'Account',
      auth: 'person',
      answers: { 200: z.object({ signingSecret: signingSecretBody }) },
      errors: { 404: 'No account has signed up with this token.' },
      handle: async ({ caller }) => reply(200, { signingSecret: toSecret(await signingSecrets.get(caller)) }),
    }),
    route({
      method: 'post',
      path: '/signing-secret',
      summary: 'Create a new signing secret; the old secret stays valid for 24 hours',
      tag: 'Account',
      auth: 'person',
      idempotent: true,
      answers: { 200: z.object({ signingSecret: signingSecretBody }) },
      errors: { 404: 'No account has signed up with this token.' },
      async handle({ caller, operation }) {
        const shown = toSecret(await signingSecrets.rotate(caller, operation))
        const replayed = { signingSecret: { ...shown, secret: null } }
        return { ...reply(200, { signingSecret: shown }), replayBody: replayed }
      },
    }),
  ]
}

export const newKeyBody = z.strictObject({
  // One line, because lists and logs show it.
  name: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(100, 'must have at most 100 characters')
    .regex(ONE_LINE, 'must be one line of text'),
  agentId: z.string().max(100).nullish().meta({ description: 'The agent whose limits apply to this key' }),
  expiresAt: z
    .string()
    .pipe(z.iso.datetime({ offset: true, error: 'must be a time like 2026-01-31T12:00:00Z' }))
    .transform((text) => new Date(text))
    .nullish()
    .meta({ format: 'date-time', description: 'When the key expires; never when absent' }),
})

export const handleBody = z.strictObject({
  handle: z
    .string()
    .min(HANDLE_LENGTH.min, `must have at least ${String(HANDLE_LENGTH.min)} characters`)
    .max(HANDLE_LENGTH.max, `must have at most ${String(HANDLE_LENGTH.max)} characters`)
    .regex(HANDLE, 'must have a-z, 0-9 and single hyphens between them')
    .refine((handle) => !RESERVED_HANDLES.has(handle), 'is reserved: choose another one')
    .nullable()
    .meta({ description: 'Null for none. One that you give up stays yours for 30 days.', examples: ['ada'] }),
})

const keyBody = z
  .object({
    id: z.string(),
    name: z.string(),
    prefix: z.string(),
    lastFour: z.string(),
    environment: z.enum(['sandbox', 'production']),
    agentId: z.string().nullable(),
    expiresAt: timestamp.nullable(),
    lastUsedAt: timestamp.nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'ApiKey' })

const meBody = z.object({
  userId: z.string(),
  environment: z.enum(['sandbox', 'production']),
  keyId: z.string().nullable(),
  agentId: z.string().nullable(),
  handle: z.string().nullable().meta({ description: 'Null before one was chosen' }),
  wallet: z.record(z.string(), z.unknown()).nullable().meta({ description: 'The Wallet; null before signing up' }),
})

const signingSecretBody = z.object({
  secret: z.string().nullable().meta({ description: 'whsec_…; null when a request is replayed' }),
  createdAt: timestamp,
  previousExpiresAt: timestamp.nullable(),
})

export function toKey(key: ApiKey): z.infer<typeof keyBody> {
  const { id, name, prefix, lastFour, environment, agentId } = key
  return {
    id,
    name,
    prefix,
    lastFour,
    environment,
    agentId,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
  }
}

export async function toMe(
  caller: Caller,
  identity: Pick<Identity, 'handleOf'>,
  walletOf: WalletOf,
): Promise<z.infer<typeof meBody>> {
  const { subject: userId, environment, keyId, agentId } = caller
  const wallet = caller.user === null ? null : await walletOf(caller)
  return { userId, environment, keyId, agentId, handle: await identity.handleOf(caller), wallet }
}

function toSecret({ secret, createdAt, previous }: SigningSecret): z.infer<typeof signingSecretBody> {
  return { secret, createdAt: createdAt.toISOString(), previousExpiresAt: previous[0]?.expiresAt.toISOString() ?? null }
}

import { z } from 'zod'
import { reply, route, type AnyRoute } from '../api/route.ts'
import { ONE_LINE } from '../kit/text.ts'
import { page, timestamp } from '../kit/wire.ts'
import type { Connection } from './model.ts'
import type { Connections, KeyInput } from './service/connections.ts'
import type { AuthorizeInput } from './service/authorize.ts'

const slug = z.string().min(1).max(64).meta({ description: 'The provider of the tools' })
const name = z
  .string()
  .trim()
  .min(1)
  .max(80)
  .regex(ONE_LINE, 'must be one line of text')
  .meta({ description: 'What you call it, once for each provider' })
const secret = z.string().min(1).max(4_096)
const scopes = z
  .array(
    z
      .string()
      .regex(/^[\x21-\x7e]{1,200}$/, 'must be a scope without spaces')
      .max(200),
  )
  .max(50)
  .default([])
const common = {
  provider: slug,
  name: name.nullish(),
  agentId: z.string().max(100).nullish().meta({ description: 'Only calls of this agent use it' }),
}

export const keyBody = z
  .strictObject({
    ...common,
    connectionId: z.string().max(100).nullish().meta({
      description: 'Connects this connection again. It keeps its name, its agent and whether it is the default',
    }),
    default: z.boolean().default(false).meta({ description: 'Calls that name no connection use it' }),
    secret: secret.nullish().meta({ description: 'The key or token; for basic authentication user:password' }),
    secrets: z
      .record(z.string().max(64), secret)
      .refine((all) => Object.keys(all).length <= 5, 'must have at most 5 keys')
      .default({})
      .meta({ description: 'By scheme, for a provider that needs several keys together', maxProperties: 5 }),
    client: z
      .strictObject({
        id: secret,
        secret,
        authentication: z
          .enum(['basic', 'post'])
          .default('basic')
          .meta({ description: 'How the client proves itself: in the header, or in the body' }),
        scopes: scopes.meta({ description: 'Requested for the client' }),
      })
      .nullish()
      .meta({ description: 'Your own OAuth client at the provider, instead of a key (client credentials)' }),
  })
  .meta({ id: 'NewConnection' })

export const authorizeBody = z
  .strictObject({
    ...common,
    scopes: scopes.meta({ description: 'Beside those that are always requested' }),
    connectionId: z.string().max(100).nullish().meta({ description: 'Authorizes this connection again' }),
    byCode: z
      .boolean()
      .default(false)
      .meta({ description: 'By a code that the person enters at the provider, on whatever device (RFC 8628)' }),
  })
  .meta({ id: 'NewAuthorization' })

export const changeBody = z
  .strictObject({ name: name.optional(), default: z.boolean().optional() })
  .meta({ id: 'ConnectionChange' })

const connectionOut = z
  .object({
    id: z.string(),
    provider: z.string(),
    name: z.string(),
    default: z.boolean(),
    agentId: z.string().nullable(),
    kind: z.enum(['key', 'oauth', 'client']).meta({
      description: '`key`: you entered it; `oauth`: you allowed it at the provider; `client`: your OAuth client has it',
    }),
    state: z.enum(['pending', 'active', 'refreshing', 'expired', 'revoked']),
    hosts: z.array(z.string()).meta({ description: 'The secret is sent to these and to no others' }),
    scopes: z.array(z.string()),
    failure: z.string().nullable().meta({ description: 'Why its last use or renewal failed' }),
    expiresAt: timestamp.nullable().meta({ description: 'The token is renewed before' }),
    lastUsedAt: timestamp.nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Connection' })

export function toKeyInput(body: z.output<typeof keyBody>): KeyInput {
  const { provider, name = null, agentId = null, connectionId = null, default: isDefault } = body
  const { secret = null, secrets, client: own } = body
  const client = own == null ? null : toClientInput(own)
  return { provider, name, agentId, connectionId, isDefault, secret, secrets, client }
}

type ClientBody = NonNullable<z.output<typeof keyBody>['client']>

function toClientInput({ id, secret, authentication, scopes }: ClientBody): KeyInput['client'] {
  return { clientId: id, clientSecret: secret, authentication, scopes }
}

export function toAuthorizeInput(body: z.output<typeof authorizeBody>): AuthorizeInput {
  const { provider, name = null, agentId = null, scopes, connectionId = null, byCode } = body
  return { provider, name, agentId, scopes, connectionId, byCode }
}

export function toConnectionOut(connection: Connection): z.input<typeof connectionOut> {
  const { id, provider, name, isDefault, agentId, kind, state, hosts, scopes, failure } = connection
  return {
    id,
    provider,
    name,
    agentId,
    kind,
    state,
    failure,
    default: isDefault,
    hosts: [...hosts],
    scopes: [...scopes],
    expiresAt: connection.expiresAt?.toISOString() ?? null,
    lastUsedAt: connection.lastUsedAt?.toISOString() ?? null,
    createdAt: connection.createdAt.toISOString(),
    updatedAt: connection.updatedAt.toISOString(),
  }
}

const person = { tag: 'Connections', auth: 'person' } as const
const one = { params: z.object({ id: z.string() }), errors: { 404: 'You have no such connection.' } }
const shown = { 200: z.object({ connection: connectionOut }) }

/** `/connections`: an account's own access to providers of tools. No answer has a secret. */
export function connectionRoutes(connections: Connections): AnyRoute[] {
  return [
    route({
      ...person,
      method: 'get',
      path: '/connections',
      summary: 'Your connections to providers of tools, newest first',
      query: page,
      answers: {
        200: z.object({ connections: z.array(connectionOut), total: z.int(), limit: z.int(), offset: z.int() }),
      },
      async handle({ caller, query: { limit, offset } }) {
        const { connections: found, total } = await connections.list(caller, { limit, offset })
        return reply(200, { connections: found.map(toConnectionOut), total, limit, offset })
      },
    }),
    route({
      ...person,
      method: 'post',
      path: '/connections',
      summary: 'Connect your account at a provider with its key, or with an OAuth client of your own there',
      idempotent: true,
      body: keyBody,
      answers: { 201: z.object({ connection: connectionOut }) },
      errors: {
        404: 'There is no such provider, or no such connection to it.',
        409: 'The name is taken, or the provider needs no connection.',
        502: 'The provider refused the client.',
      },
      async handle({ caller, body, operation }) {
        const connection = await connections.create(caller, toKeyInput(body), operation)
        return reply(201, { connection: toConnectionOut(connection) })
      },
    }),
    route({
      ...person,
      method: 'post',
      path: '/connections/authorize',
      summary: 'Begin to connect by signing in at the provider; a person opens the address and comes back',
      idempotent: true,
      body: authorizeBody,
      answers: {
        201: z.object({
          connection: connectionOut,
          authorizationUrl: z.string().meta({ description: 'For a person who is signed in to this account here' }),
          userCode: z.string().nullable().meta({
            description: 'The person enters it at `authorizationUrl`; the connection becomes active by itself',
          }),
          expiresAt: timestamp,
        }),
      },
      errors: {
        404: 'There is no such provider.',
        409: 'No OAuth client is set up for this provider.',
        502: 'The provider’s metadata could not be read.',
      },
      async handle({ caller, body, operation }) {
        const started = await connections.start(caller, toAuthorizeInput(body), operation)
        const { connection, authorizationUrl, userCode, expiresAt } = started
        const begun = { authorizationUrl, userCode, expiresAt: expiresAt.toISOString() }
        return reply(201, { connection: toConnectionOut(connection), ...begun })
      },
    }),
    ...oneConnectionRoutes(connections),
  ]
}

function oneConnectionRoutes(connections: Connections): AnyRoute[] {
  return [
    route({
      ...person,
      ...one,
      method: 'get',
      path: '/connections/:id',
      summary: 'One connection',
      answers: shown,
      async handle({ caller, params }) {
        return reply(200, { connection: toConnectionOut(await connections.get(caller, params.id)) })
      },
    }),
    route({
      ...person,
      ...one,
      method: 'patch',
      path: '/connections/:id',
      summary: 'Rename a connection, or make it the default',
      body: changeBody,
      answers: shown,
      errors: { ...one.errors, 409: 'Another connection has this name.' },
      async handle({ caller, params, body }) {
        const change = { name: body.name, isDefault: body.default }
        return reply(200, { connection: toConnectionOut(await connections.change(caller, params.id, change)) })
      },
    }),
    route({
      ...person,
      ...one,
      method: 'delete',
      path: '/connections/:id',
      summary: 'Remove a connection; what the provider issued is revoked there',
      answers: { 204: z.undefined() },
      async handle({ caller, params }) {
        await connections.remove(caller, params.id)
        return reply(204, undefined)
      },
    }),
    route({
      ...person,
      ...one,
      method: 'post',
      path: '/connections/:id/test',
      summary: 'Call a tool that only reads with this connection; costs nothing',
      answers: {
        200: z.object({
          ok: z.boolean().nullable().meta({ description: 'Null where nothing could be tried' }),
          tool: z.string().nullable(),
          status: z.int().nullable().meta({ description: "The provider's answer" }),
        }),
      },
      errors: { ...one.errors, 409: 'The connection is not active.' },
      handle: async ({ caller, params }) => reply(200, await connections.test(caller, params.id)),
    }),
  ]
}

import { z } from 'zod'
import { actKey, asked, keyed, named, paging, person, router } from '../api/trpc.ts'
import { authorizeBody, changeBody, keyBody, toAuthorizeInput, toConnectionOut, toKeyInput } from './http.ts'
import type { Connections } from './service/connections.ts'

/** The dashboard's procedures for connections. Only a signed-in person finishes an authorization. */
export function connectionsRouter(connections: Connections) {
  return router({
    list: person.input(asked(paging)).query(async ({ ctx, input }) => {
      const { connections: found, total } = await connections.list(ctx.caller, input)
      return { connections: found.map(toConnectionOut), total }
    }),
    options: person
      .input(asked(z.object({ provider: z.string().min(1).max(64) })))
      .query(({ ctx, input }) => connections.options(ctx.caller, input.provider)),
    create: keyed
      .input(asked(keyBody.extend(actKey)))
      .mutation(({ ctx, input: { key, ...body } }) =>
        ctx.once({ key }, async (operation) =>
          toConnectionOut(await connections.create(ctx.caller, toKeyInput(body), operation)),
        ),
      ),
    start: keyed.input(asked(authorizeBody.extend(actKey))).mutation(({ ctx, input: { key, ...body } }) =>
      ctx.once({ key }, async (operation) => {
        const started = await connections.start(ctx.caller, toAuthorizeInput(body), operation)
        const { connection, authorizationUrl, userCode, expiresAt } = started
        return { id: connection.id, authorizationUrl, userCode, expiresAt: expiresAt.toISOString() }
      }),
    ),
    /** The query with which the provider sent the person's browser back. */
    finish: person
      .input(asked(z.object({ query: z.string().max(8_192) })))
      .mutation(async ({ ctx, input }) => toConnectionOut(await connections.finish(ctx.caller, input.query))),
    change: person
      .input(asked(z.object({ id: named.shape.id, body: changeBody })))
      .mutation(async ({ ctx, input: { id, body } }) =>
        toConnectionOut(await connections.change(ctx.caller, id, { name: body.name, isDefault: body.default })),
      ),
    test: person.input(asked(named)).mutation(({ ctx, input }) => connections.test(ctx.caller, input.id)),
    remove: person.input(asked(named)).mutation(({ ctx, input }) => connections.remove(ctx.caller, input.id)),
  })
}

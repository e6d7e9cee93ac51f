import { z } from 'zod'
import { actKey, asked, keyed, named, paging, person, router } from '../api/trpc.ts'
import { accountOf, type Caller } from '../kit/caller.ts'
import { ZERO } from '../kit/money.ts'
import { amount } from '../kit/wire.ts'
import { toCall, toResult } from './http/calls.ts'
import { toTool } from './http/catalogue.ts'
import type { ImportReport } from './model/draft.ts'
import type { Calls } from './service/calls.ts'
import type { Catalogue } from './service/catalogue.ts'

/** The catalogue as the dashboard shows it, with what somebody brought in for themselves. */
export function toolsRouter(catalogue: Catalogue, calls: Calls) {
  return router({
    list: person.input(asked(filter)).query(async ({ ctx, input }) => {
      const { tools, total } = await catalogue.list({ ...viewOf(ctx.caller), ...input })
      return { tools: tools.map(toTool), total }
    }),
    get: person.input(asked(bySlug)).query(async ({ ctx, input }) => {
      const { environment, viewer } = viewOf(ctx.caller)
      return toTool(await catalogue.get(environment, input.slug, viewer))
    }),
    providers: person.query(async ({ ctx }) => {
      const { environment, viewer } = viewOf(ctx.caller)
      return await catalogue.providers(environment, viewer)
    }),
    collections: person.query(async ({ ctx }) => {
      const { environment, viewer } = viewOf(ctx.caller)
      const found = await catalogue.collections(environment, viewer)
      return found.map(({ collection: { slug, name, description }, tools }) => ({ slug, name, description, tools }))
    }),
    // Not `call`, which is a word of tRPC's own.
    try: keyed.input(asked(callInput)).mutation(({ ctx, input }) =>
      ctx.once(input, async (operation, isKeyed) => {
        const { slug, input: given, maxCost = null } = input
        const wanted = { caller: ctx.caller, slug, input: given, maxCost, operation, keyed: isKeyed }
        return toResult(await calls.call(wanted))
      }),
    ),
    calls: person.input(asked(paging.extend({ tool: text(200).optional() }))).query(async ({ ctx, input }) => {
      const { tool = null, ...rest } = input
      const { calls: found, total } = await calls.list(ctx.caller, { ...rest, tool })
      return { calls: found.map(toCall), total }
    }),
    /** Tools of somebody's own, that nobody else sees. Calling them costs nothing here: they are their server's. */
    import: person.input(asked(importInput)).mutation(async ({ ctx, input }) => {
      const { environment, viewer } = viewOf(ctx.caller)
      const wanted = {
        environment,
        ownerId: viewer,
        slug: input.slug,
        name: null,
        description: null,
        simulated: false,
        source: { from: input.address },
        pricing: { otherwise: ZERO },
        server: null,
        auth: null,
        trusted: false,
      }
      const report =
        input.kind === 'openapi'
          ? await catalogue.importAddress(wanted)
          : await catalogue.importServer(
              input.credentials === undefined
                ? wanted
                : { ...wanted, credentials: { headers: { authorization: `Bearer ${input.credentials}` }, query: {} } },
              input.address,
            )
      if (input.credentials !== undefined) {
        const whose = { environment, ownerId: viewer, provider: input.slug }
        await catalogue.setCredentials(whose, input.credentials)
      }
      return sizesOf(report)
    }),
    /** Null takes the key away. */
    setCredentials: person
      .input(asked(z.object({ provider: text(64), credentials: text(4_096).nullable() })))
      .mutation(async ({ ctx, input }) => {
        const { environment, viewer } = viewOf(ctx.caller)
        await catalogue.setCredentials({ environment, ownerId: viewer, provider: input.provider }, input.credentials)
      }),
    removeProvider: person.input(asked(named)).mutation(async ({ ctx, input }) => {
      const { environment, viewer } = viewOf(ctx.caller)
      return sizesOf(await catalogue.removeProvider(environment, viewer, input.id))
    }),
  })
}

function viewOf(caller: Caller) {
  const { environment, userId } = accountOf(caller)
  return { environment, viewer: userId }
}

function sizesOf({ provider, added, changed, removed, unchanged, skipped }: ImportReport) {
  return { provider, added, changed, removed, unchanged, skipped }
}

const text = (longest: number) => z.string().min(1).max(longest)
const bySlug = z.object({ slug: text(200) })

const filter = paging.extend({
  search: z.string().max(1_000).optional(),
  provider: text(64).optional(),
  category: text(64).optional(),
  collection: text(64).optional(),
})

const callInput = bySlug.extend({ ...actKey, input: z.record(z.string(), z.unknown()), maxCost: amount.nullish() })

const importInput = z.object({
  kind: z.enum(['openapi', 'mcp']),
  slug: text(64),
  address: text(2_048),
  credentials: text(4_096).optional(),
})

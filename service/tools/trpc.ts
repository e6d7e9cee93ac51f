import { z } from 'zod'
import { actKey, asked, keyed, named, paging, person, router } from '../api/trpc.ts'
import { accountOf, type Caller } from '../kit/caller.ts'
import { ZERO } from '../kit/money.ts'
import { amount } from '../kit/wire.ts'
import { toCall, toResult } from './http/calls.ts'
import { toTool } from './http/catalogue.ts'
import type { ImportReport } from './model/draft.ts'
import type { Calls } from './service/calls/calls.ts'
import type { Catalogue } from './service/catalogue/catalogue.ts'

/** The catalogue as the dashboard shows it, with the tools that the account imported. */
export function toolsRouter(catalogue: Catalogue, calls: Calls, countCall: (caller: Caller) => Promise<void>) {
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
      return await catalogue.collections(environment, viewer)
    }),
    // Not `call`, which is a reserved name in tRPC.
    try: keyed.input(asked(callInput)).mutation(async ({ ctx, input }) => {
      await countCall(ctx.caller)
      return await ctx.once(input, async (operation, keyHash) => {
        const { slug, input: toolInput, maxCost = null } = input
        const about = { caller: ctx.caller, operation, keyed: keyHash !== null }
        return toResult(await calls.call({ ...about, slug, input: toolInput, maxCost }))
      })
    }),
    calls: person.input(asked(paging.extend({ tool: text(200).optional() }))).query(async ({ ctx, input }) => {
      const { tool = null, ...rest } = input
      const { calls: found, total } = await calls.list(ctx.caller, { ...rest, tool })
      return { calls: found.map(toCall), total }
    }),
    /** Imports tools that only this account sees. It pays nothing for calling them. */
    import: person.input(asked(importInput, importExample)).mutation(async ({ ctx, input, signal }) => {
      const { environment, viewer } = viewOf(ctx.caller)
      const { kind, slug, address, credentials: key } = input
      const request = { environment, ownerId: viewer, slug, source: { from: address }, pricing: { otherwise: ZERO } }
      const credentials = key === undefined ? {} : { credentials: { headers: { authorization: `Bearer ${key}` } } }
      const report =
        kind === 'openapi'
          ? await catalogue.importAddress(request)
          : await catalogue.importServer(
              { ...request, ...credentials, ...(signal === undefined ? {} : { signal }) },
              address,
            )
      if (key !== undefined) await catalogue.setCredentials({ environment, ownerId: viewer, provider: slug }, key)
      return { ...sizesOf(report), keyRemoved: report.keyRemoved && key === undefined }
    }),
    /** Null removes the key. */
    setCredentials: person
      .input(asked(z.object({ provider: text(64), credentials: text(4_096).nullable() }), credentialsExample))
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

function sizesOf({ provider, added, changed, removed, unchanged, skipped, keyRemoved }: ImportReport) {
  return { provider, added, changed, removed, unchanged, skipped, keyRemoved }
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

const importExample = { kind: 'openapi', slug: 'weather', address: 'https://example.com/openapi.json' } as const
const credentialsExample = { provider: 'weather', credentials: 'their-key' }

const importInput = z.object({
  kind: z.enum(['openapi', 'mcp']),
  slug: text(64),
  address: text(2_048),
  credentials: text(4_096).optional(),
})

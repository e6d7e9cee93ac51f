import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { toWire } from '../../kit/money.ts'
import { amountOut, page, word } from '../../kit/wire.ts'
import { pagingOf } from '../rules/paging.ts'
import type { Caller } from '../../kit/caller.ts'
import type { Environment } from '../../kit/owner.ts'
import type { ListedTool } from '../ports/catalogue.ts'
import { foundOut, scoreOf, toFound, whenNothingFits } from './found.ts'
import type { Catalogue } from '../service/catalogue/catalogue.ts'

/** The public catalogue; a caller with a key also sees their own tools. */
export function catalogueRoutes(catalogue: Catalogue, anonymous: Environment): AnyRoute[] {
  const viewOf = (caller: Caller | null) => ({
    environment: caller?.environment ?? anonymous,
    viewer: caller?.user?.id ?? null,
  })
  return [
    route({
      method: 'get',
      path: '/',
      summary: 'List tools, the most used first, or search them, best match first',
      tag: 'Tools',
      auth: 'optional',
      query: page.extend(filters),
      answers: { 200: listOut },
      errors: { 404: 'There is no such collection.' },
      async handle({ caller, query: { view, ...query } }) {
        const found = await catalogue.list({ ...viewOf(caller), ...query, byUse: true })
        const show: (tool: ListedTool) => z.input<typeof listedOut> = view === 'full' ? toScored : toFound
        const { limit, offset, search = '' } = query
        const nothing = found.total === 0 && search.trim() !== '' ? whenNothingFits(found, show) : {}
        return reply(200, { tools: found.tools.map(show), total: found.total, limit, offset, ...nothing })
      },
    }),
    route({
      method: 'get',
      path: '/providers',
      summary: 'List providers of tools',
      tag: 'Tools',
      auth: 'optional',
      answers: { 200: z.object({ providers: z.array(providerOut) }) },
      async handle({ caller }) {
        const { environment, viewer } = viewOf(caller)
        return reply(200, { providers: await catalogue.providers(environment, viewer) })
      },
    }),
    route({
      method: 'get',
      path: '/collections',
      summary: 'List collections of tools',
      tag: 'Tools',
      auth: 'optional',
      answers: { 200: z.object({ collections: z.array(collectionOut) }) },
      async handle({ caller }) {
        const { environment, viewer } = viewOf(caller)
        return reply(200, { collections: await catalogue.collections(environment, viewer) })
      },
    }),
    route({
      method: 'get',
      path: '/:slug',
      summary: 'Get a tool',
      tag: 'Tools',
      auth: 'optional',
      params: z.object({ slug: z.string() }),
      answers: { 200: z.object({ tool: toolOut }) },
      errors: { 404: 'There is no such tool.', 410: 'The tool was removed; `successor` names its replacement.' },
      async handle({ caller, params }) {
        const { environment, viewer } = viewOf(caller)
        return reply(200, { tool: toTool(await catalogue.get(environment, params.slug, viewer)) })
      },
    }),
  ]
}

const filters = {
  search: word(1_000).optional().meta({ description: 'What you want to do, in your own words' }),
  provider: word(64).optional(),
  category: word(64).optional(),
  collection: word(64).optional(),
  view: z.enum(['short', 'full']).default('short').meta({ description: '`full`: each tool with its schemas' }),
}

const statsOut = z.object({
  calls: z.int().meta({ description: 'Recent calls' }),
  successRate: z.number().nullable().meta({ description: 'Percent of the recent calls' }),
  p50: z.number().nullable().meta({ description: 'Milliseconds' }),
  p95: z.number().nullable(),
  lastError: z.string().nullable(),
  failing: z.boolean().meta({ description: 'The tool fails often; consider another one' }),
})

const schemaOut = z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema' })

const toolOut = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  provider: z.string(),
  category: z.string().nullable(),
  price: amountOut,
  deprecated: z.boolean(),
  inputSchema: schemaOut,
  outputSchema: schemaOut.nullable(),
  needs: z.enum(['nothing', 'platform', 'connection']).meta({
    description: '`connection`: the tool acts in your own account at the provider, so connect it first',
  }),
  paged: z.boolean().meta({ description: 'It answers in pages, which a call with `all` reads as one' }),
  simulated: z.boolean().meta({ description: 'The sandbox answers its calls with examples; its server is not called' }),
  stats: statsOut,
})

/** A short tool, and with `view=full` all of it. */
const listedOut = foundOut.extend(
  toolOut
    .pick({ category: true, deprecated: true, inputSchema: true, outputSchema: true, paged: true, stats: true })
    .partial().shape,
)

const listOut = z.object({
  tools: z.array(listedOut),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
  note: z.string().optional().meta({ description: 'When no tool fits the search' }),
  nearest: z
    .array(listedOut)
    .optional()
    .meta({ description: 'When no tool fits the search: what has some of its words' }),
})

const providerOut = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  kind: z.enum(['openapi', 'mcp', 'rda']),
  simulated: z.boolean().meta({ description: 'The sandbox returns examples instead of calling it' }),
  own: z.boolean().meta({ description: "The caller's own, visible only to the caller" }),
  tools: z.int(),
})

const collectionOut = z.object({ slug: z.string(), name: z.string(), description: z.string(), tools: z.int() })

export function toTool({ tool, stats, needs, simulated }: ListedTool) {
  const { slug, name, description, provider, category, price, deprecated, input, output } = tool
  const { calls, succeeded, p50Ms, p95Ms, lastError, failing } = stats ?? NEVER_CALLED
  return {
    slug,
    name,
    description,
    provider,
    category,
    price: toWire(price),
    deprecated,
    inputSchema: input,
    outputSchema: output,
    needs,
    paged: pagingOf(tool) !== null,
    simulated,
    stats: {
      calls,
      successRate: calls === 0 ? null : Math.round((succeeded / calls) * 1_000) / 10,
      p50: p50Ms,
      p95: p95Ms,
      lastError,
      failing,
    },
  }
}

function toScored(listed: ListedTool) {
  return { ...toTool(listed), ...scoreOf(listed.fit) }
}

const NEVER_CALLED = { calls: 0, succeeded: 0, p50Ms: null, p95Ms: null, lastError: null, failing: false }

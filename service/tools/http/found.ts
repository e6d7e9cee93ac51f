import { z } from 'zod'
import { amountOut } from '../../kit/wire.ts'
import { toWire } from '../../kit/money.ts'
import type { Finding, ListedTool } from '../ports/catalogue.ts'

/** A found tool, with enough data to choose by: what lists and searches answer, over HTTP and over MCP. */
export function toFound({ tool, stats, needs, simulated, fit }: ListedTool) {
  return {
    slug: tool.slug,
    name: tool.name,
    description: tool.description.slice(0, DESCRIPTION),
    provider: tool.provider,
    price: toWire(tool.price),
    needs,
    inputs: Object.keys(tool.input['properties'] ?? {}),
    required: (tool.input['required'] ?? []) as string[],
    simulated,
    ...scoreOf(fit),
    ...(stats === null || stats.calls === 0
      ? {}
      : { successRate: Math.round((stats.succeeded / stats.calls) * 100) / 100, p50Ms: stats.p50Ms }),
    ...(stats?.failing === true ? { warning: `Fails often right now: ${stats.lastError ?? 'no answer'}` } : {}),
  }
}

/** Added to the answer of a search that no tool fits. */
export function whenNothingFits<Shown>({ nearest }: Pick<Finding, 'nearest'>, show: (tool: ListedTool) => Shown) {
  return { note: nearest.length === 0 ? NOTHING_FOUND : NOTHING_FITS, nearest: nearest.map(show) }
}

export function scoreOf(fit: number | null) {
  return fit === null ? {} : { score: Math.round(fit * 100) / 100 }
}

const scoreOut = z.number().optional().meta({ description: 'With a search: how well the tool fits it, from 0 to 1' })

export const foundOut = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string().meta({ description: 'Its beginning' }),
  provider: z.string(),
  price: amountOut,
  needs: z.enum(['nothing', 'platform', 'connection']).meta({
    description: '`connection`: the tool acts in your own account at the provider, so connect it first',
  }),
  inputs: z.array(z.string()).optional().meta({ description: 'The names of its inputs' }),
  required: z.array(z.string()).optional().meta({ description: 'The inputs that a call must have' }),
  simulated: z.boolean().meta({ description: 'The sandbox answers its calls with examples; its server is not called' }),
  score: scoreOut,
  successRate: z.number().optional().meta({ description: 'The share of its recent calls that succeeded' }),
  p50Ms: z.number().nullable().optional().meta({ description: 'How long its recent calls took' }),
  warning: z.string().optional().meta({ description: 'The tool fails often; consider another one' }),
})

/** Creators' prompts and agents are in the marketplace alone: their cost depends on the input, and a tool's does not. */
export const ELSEWHERE =
  'Prompts and agents that creators sell are not tools: find them with GET /v1/rdas?search=…, and run one with POST /v1/run, or without a key with POST /v1/rda/{slug}/run.'

const NOTHING_FITS = `No tool fits this search. Those under \`nearest\` have some of its words and probably do something else. ${ELSEWHERE}`
const NOTHING_FOUND = `No tool fits this search. Describe the task in other words, or list the providers. ${ELSEWHERE}`
const DESCRIPTION = 300

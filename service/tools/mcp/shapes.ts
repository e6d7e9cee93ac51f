import { toWire } from '../../kit/money.ts'
import type { Tool } from '../model/tool.ts'
import type { ListedTool } from '../ports/catalogue.ts'

/** A tool among others that were found: enough to choose by. */
export function toFound({ tool, figures }: ListedTool) {
  return {
    slug: tool.slug,
    name: tool.name,
    description: tool.description.slice(0, DESCRIPTION),
    provider: tool.provider,
    price: toWire(tool.price),
    inputs: Object.keys(tool.input['properties'] ?? {}),
    required: (tool.input['required'] ?? []) as string[],
    ...(figures === null || figures.calls === 0
      ? {}
      : { successRate: Math.round((figures.succeeded / figures.calls) * 100) / 100, p50Ms: figures.p50Ms }),
    ...(figures?.failing === true ? { warning: `Fails often right now: ${figures.lastError ?? 'no answer'}` } : {}),
  }
}

export function documentOf(tool: Tool) {
  return {
    slug: tool.slug,
    name: tool.name,
    description: tool.description,
    provider: tool.provider,
    category: tool.category,
    price: toWire(tool.price),
    inputSchema: tool.input,
    outputSchema: tool.output,
  }
}

const DESCRIPTION = 300

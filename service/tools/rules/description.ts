import type { Operation } from '../model/draft.ts'
import type { HttpMethod } from '../model/tool.ts'

/**
 * A model chooses a tool by its description. Where a source has none, or a few words that could be about anything, what
 * the tool does is added: its method, its path, what it is filed under, and what it takes.
 */
export function withDescription(operation: Operation): Operation {
  const { name, description, upstream } = operation
  const words = description.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  if (upstream.kind === 'rda' || words.length >= WORDS_LEAST) return operation
  const given = words.length === 0 ? `${name}.` : description
  return { ...operation, description: `${given} ${explained(operation)}` }
}

const WORDS_LEAST = 4

function explained({ category, input, upstream }: Operation): string {
  const names = Object.keys(input['properties'] ?? {})
  const shown = names.slice(0, NAMES_SHOWN)
  const more = names.length > shown.length ? ' and more' : ''
  const inputs = shown.length === 0 ? 'no input' : `${shown.join(', ')}${more}`
  if (upstream.kind !== 'http') return `Takes ${inputs}.`
  const about = category === null ? '' : ` (${category})`
  return `${VERBS[upstream.method]} ${upstream.path.slice(0, PATH_MAX)}${about}; takes ${inputs}.`
}

const NAMES_SHOWN = 5
const PATH_MAX = 200

const VERBS: Readonly<Record<HttpMethod, string>> = {
  GET: 'Reads',
  POST: 'Posts to',
  PUT: 'Replaces',
  PATCH: 'Changes',
  DELETE: 'Deletes',
}

import { createHash } from 'node:crypto'
import type { Operation, ToolDraft } from '../model/draft.ts'
import { withoutTrailing } from '../../kit/text.ts'

/** Operations with their slugs. When two operations would have the same slug, both get a hash of the operation. */
export function slugsOf(provider: string, operations: readonly Operation[]): ToolDraft[] {
  const wanted = operations.map(({ operation }) => slugOf(provider, operation))
  const counts = new Map<string, number>()
  for (const slug of wanted) counts.set(slug, (counts.get(slug) ?? 0) + 1)
  return operations.map(({ operation, ...tool }, place) => {
    const slug = wanted[place] ?? ''
    if (counts.get(slug) === 1) return { slug, ...tool }
    const { upstream } = tool
    const whole = upstream.kind === 'http' ? `${upstream.method} ${upstream.path}` : operation
    return { slug: `${withoutTrailing(slug.slice(0, LONGEST - 7), '-')}-${digestOf(whole).slice(0, 6)}`, ...tool }
  })
}

/** A tool of the marketplace keeps its asset's whole slug, because users know it by that. */
export function assetSlugOf(slug: string): string {
  return `rda-${slug}`
}

export function assetSlugsOf(operations: readonly Operation[]): ToolDraft[] {
  return operations.map(({ operation, ...tool }) => ({ slug: assetSlugOf(operation), ...tool }))
}

/** `provider-operation`; the same operation has the same slug in every reading. */
function slugOf(provider: string, operation: string): string {
  const words = wordsOf(operation)
  const whole = [provider, ...dropRepeated(provider, words)].join('-')
  if (whole.length <= LONGEST) return whole
  // Clients refuse longer tool names. A hash keeps shortened names apart.
  return `${withoutTrailing(whole.slice(0, LONGEST - 7), '-')}-${digestOf(whole).slice(0, 6)}`
}

/** Why a provider cannot have this slug, or null. */
export function providerSlugFault(slug: string): string | null {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)) return 'must be words of lower-case letters and digits with hyphens'
  if (slug.length > 32) return 'must have at most 32 characters'
  if (RESERVED.has(slug) || slug.startsWith('rda-')) return 'is reserved'
  return null
}

const LONGEST = 64
/** Names with another meaning after the catalogue's address, and the marketplace's own prefix. */
const RESERVED = new Set(['mcp', 'pay', 'rda', 'collections', 'providers', 'search'])

function wordsOf(text: string): string[] {
  const words = text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/(?<=[A-Z])(?=[A-Z][a-z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  return words.length === 0 ? [digestOf(text).slice(0, 8)] : words
}

/** Removes a repeated provider name: `github_get_user` of `github` becomes `github-get-user`. */
function dropRepeated(provider: string, words: string[]): string[] {
  const own = provider.split('-')
  const repeated = own.every((word, place) => words[place] === word)
  return repeated && words.length > own.length ? words.slice(own.length) : words
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

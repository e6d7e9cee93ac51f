import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ZERO } from '../../../service/kit/money.ts'
import { createDocuments } from '../../../service/openapi/documents.ts'
import { SHIPPED, shippedText } from '../../../service/openapi/shipped.ts'
import type { Entry } from '../../../service/tools/model/tool.ts'
import type { Found } from '../../../service/tools/service/catalogue/word-index.ts'
import { slugsOf } from '../../../service/tools/rules/slug.ts'
import { worthOf } from '../../../service/tools/rules/rank.ts'

/** A task in a user's words, and the tools that do it: any of them is a find. */
export interface Task {
  text: string
  tools: readonly string[]
}

/** The search's words may be chosen by `tasks`. `held-back` is for measuring only. */
export function tasksOf(name: 'tasks' | 'held-back'): Task[] {
  return linesOf(name).map((line) => {
    const [text = '', tools = ''] = line.split(' > ')
    return { text, tools: tools.split(', ') }
  })
}

/** The tools that come with the service, and operations of other APIs in the words of their documents. */
export async function entriesToSearch(): Promise<Entry[]> {
  const documents = createDocuments()
  const entries: Entry[] = []
  for (const { slug: provider, auth = null } of SHIPPED) {
    const options = { base: null, server: null, auth, trusted: true }
    const { operations } = await documents.read(await shippedText(provider), options)
    for (const { slug, name, description, category, deprecated, input } of slugsOf(provider, operations)) {
      const terms = Object.keys(input['properties'] ?? {}).join(' ')
      entries.push(entryOf({ slug, provider, name, description, category, deprecated, terms }))
    }
  }
  for (const line of linesOf('operations')) {
    const [slug = '', name = '', description = '', terms = ''] = line.split('|').map((part) => part.trim())
    const provider = slug.split('-')[0] ?? ''
    entries.push(entryOf({ slug, provider, name, description, category: null, deprecated: false, terms }))
  }
  return entries
}

/** The slugs of the best entries, as the catalogue ranks tools that were never called. */
export function bestOf(index: Searched, query: string, limit: number): string[] {
  const found: { slug: string; score: number }[] = []
  index.find(query, ({ slug, price, deprecated }, { score }) => {
    found.push({ slug, score: score * worthOf({ price, deprecated, stats: null }) })
  })
  found.sort((one, other) => other.score - one.score || (one.slug < other.slug ? -1 : 1))
  return found.slice(0, limit).map(({ slug }) => slug)
}

/** The share of the tasks that have one of their tools among the first five. */
export function recallOf(index: Searched, tasks: readonly Task[]): { recall: number; missed: string[] } {
  const missed = tasks.filter(({ text, tools }) => {
    const best = bestOf(index, text, 5)
    return !tools.some((slug) => best.includes(slug))
  })
  return { recall: 1 - missed.length / tasks.length, missed: missed.map(({ text }) => text) }
}

export interface Searched {
  find(query: string, found: Found): void
}

type Texts = Pick<Entry, 'slug' | 'provider' | 'name' | 'description' | 'category' | 'deprecated' | 'terms'>

function entryOf(texts: Texts): Entry {
  const fixed = { price: ZERO, ownerId: null, status: 'live', successor: null, version: 1, effect: 'write' } as const
  return { ...fixed, ...texts, id: `tool_${texts.slug}` }
}

function linesOf(name: string): string[] {
  const text = readFileSync(path.join(import.meta.dirname, `${name}.txt`), 'utf8')
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

import { isRecord } from '../../kit/schema/merge.ts'
import type { JsonSchema, Tool } from '../model/tool.ts'

type Input = Readonly<Record<string, unknown>>

/** How a tool's answers are read page by page, and by which of its inputs. */
export interface Paging {
  /** `last`: after the id of the last item. */
  by: 'cursor' | 'last' | 'offset' | 'page'
  input: string
  /** The input for the number of items in a page. */
  size: string | null
}

/** A page that was read. */
export interface PageRead {
  items: readonly unknown[]
  /** The property that holds them; null where the answer itself is the list. */
  at: string | null
  /** The input for the next page, or null after the last. */
  next: Input | null
}

/** Null where a tool's answers have no pages: only what changes nothing is asked for more than once. */
export function pagingOf({ upstream }: Pick<Tool, 'upstream'>): Paging | null {
  if (upstream.kind !== 'http' || upstream.method !== 'GET') return null
  const named = Object.entries(upstream.where).flatMap(([input, { in: place, name }]) =>
    place === 'query' ? [{ input, word: wordOf(name) }] : [],
  )
  const find = (words: readonly string[]) =>
    words.flatMap((word) => named.filter((one) => one.word === word))[0]?.input ?? null
  const size = find(SIZES)
  for (const [by, words] of WAYS) {
    const input = find(words)
    if (input !== null && input !== size) return { by, input, size }
  }
  return null
}

/** The input for the first page: as large as the tool allows, where the caller did not say how large. */
export function firstPage({ size }: Paging, schema: JsonSchema, input: Input): Input {
  if (size === null || input[size] !== undefined) return input
  const { maximum } = fieldOf(schema, size)
  return Number.isInteger(maximum) && (maximum as number) > 0 && (maximum as number) <= SIZE_MAX
    ? { ...input, [size]: maximum }
    : input
}

/** What a page holds and what comes after it; null where the answer has no list. `before` counts the items read so far. */
export function pageRead(paging: Paging, schema: JsonSchema, sent: Input, answer: Answered): PageRead | null {
  const { value, link, before, largest } = answer
  const list = listIn(value)
  if (list === null) return null
  const { items } = list
  if (link !== null) {
    const to = items.length === 0 ? null : nextIn(link)
    const start = to === null ? null : fromLink(to, paging.input)
    return { ...list, next: start === null ? null : { ...sent, [paging.input]: numberOf(start) ?? start } }
  }
  const more = answerSays(value, before + items.length)
  const size = Number(sent[paging.size ?? ''] ?? fieldOf(schema, paging.size ?? '')['default'] ?? largest)
  const isLast = items.length === 0 || more === false
  switch (paging.by) {
    case 'cursor': {
      const cursor = cursorIn(value, paging.input)
      return { ...list, next: isLast || cursor === null ? null : { ...sent, [paging.input]: cursor } }
    }
    case 'last': {
      const id = idOf(items.at(-1))
      return { ...list, next: isLast || more !== true || id === null ? null : { ...sent, [paging.input]: id } }
    }
    case 'offset':
    case 'page': {
      const start = numberOf(sent[paging.input]) ?? startOf(paging, schema)
      const next = { ...sent, [paging.input]: start + (paging.by === 'page' ? 1 : items.length) }
      return { ...list, next: isLast || (more === null && items.length < size) ? null : next }
    }
  }
}

export interface Answered {
  value: unknown
  /** The header that names the pages around this one. */
  link: string | null
  /** The items of the pages before. */
  before: number
  /** The items of the largest page before: one with fewer is the last where the tool says nothing. */
  largest: number
}

/** The first answer with the items of all. */
export function joinedPages(first: unknown, at: string | null, items: readonly unknown[]): unknown {
  return at === null ? items : { ...(first as Record<string, unknown>), [at]: items }
}

function listIn(value: unknown): Omit<PageRead, 'next'> | null {
  if (Array.isArray(value)) return { items: value, at: null }
  if (!isRecord(value)) return null
  const lists = Object.entries(value).filter(([, inner]) => Array.isArray(inner)) as [string, unknown[]][]
  const [at, items] = lists.find(([name]) => LISTS.includes(name.toLowerCase())) ?? lists[0] ?? []
  return at === undefined || items === undefined || (lists.length > 1 && !LISTS.includes(at.toLowerCase()))
    ? null
    : { items, at }
}

/** Whether the answer says that more follows; null where it says nothing. */
function answerSays(value: unknown, read: number): boolean | null {
  for (const said of placesIn(value)) {
    for (const [name, inner] of Object.entries(said)) {
      const word = wordOf(name)
      if (typeof inner === 'boolean' && MORE.includes(word)) return inner
      if (typeof inner === 'boolean' && word === 'islast') return !inner
      if (TOTALS.includes(word) && Number.isInteger(inner)) return read < (inner as number)
    }
  }
  return null
}

function cursorIn(value: unknown, input: string): string | number | null {
  for (const said of placesIn(value)) {
    for (const [name, inner] of Object.entries(said)) {
      if (!CURSORS.includes(wordOf(name)) && name !== input) continue
      if (typeof inner === 'number') return inner
      if (typeof inner === 'string' && inner !== '') return fromLink(inner, input)
    }
  }
  return null
}

/** The address of the next page in a `Link` header. */
function nextIn(link: string): string | null {
  const next = link
    .slice(0, LINK_MAX)
    .split(',')
    .find((one) => /;\s*rel="?next"?/i.test(one))
  return next === undefined ? null : next.slice(next.indexOf('<') + 1, next.indexOf('>'))
}

/** Of an address nothing but the parameter is taken: the next page is asked at the tool's own address. */
function fromLink(text: string, input: string): string | null {
  if (!/^(https?:\/\/|\/|\?)/.test(text)) return text
  const query = new URLSearchParams(text.slice(text.indexOf('?') + 1))
  const [found] = [...query].filter(([name]) => wordOf(name) === wordOf(input))
  return found?.[1] ?? null
}

/** The answer itself, and the objects in it that speak of pages. */
function* placesIn(value: unknown): Generator<Record<string, unknown>> {
  if (!isRecord(value)) return
  yield value
  for (const [name, inner] of Object.entries(value)) {
    if (!isRecord(inner) || !PLACES.includes(wordOf(name))) continue
    yield inner
    for (const [below, deep] of Object.entries(inner)) {
      if (isRecord(deep) && PLACES.includes(wordOf(below))) yield deep
    }
  }
}

function idOf(item: unknown): string | number | null {
  const id = isRecord(item) ? item['id'] : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

function startOf({ by, input }: Paging, schema: JsonSchema): number {
  const field = fieldOf(schema, input)
  return numberOf(field['default']) ?? numberOf(field['minimum']) ?? (by === 'page' ? 1 : 0)
}

function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) ? (number as number) : null
}

function fieldOf(schema: JsonSchema, name: string): Record<string, unknown> {
  const properties = schema['properties']
  const field = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isRecord(field) ? field : {}
}

function wordOf(name: string): string {
  return name
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')
}

const WAYS: readonly (readonly [Paging['by'], readonly string[]])[] = [
  [
    'cursor',
    ['cursor', 'pagetoken', 'nextpagetoken', 'nextcursor', 'startcursor', 'aftercursor', 'pagecursor', 'after'],
  ],
  ['cursor', ['continuationtoken', 'continuation', 'nexttoken', 'marker', 'synctoken', 'scrollid']],
  ['last', ['startingafter', 'afterid']],
  ['page', ['page', 'pagenumber', 'pageno', 'pageindex', 'pagenum', 'currentpage']],
  ['offset', ['offset', 'skip', 'startat', 'startindex', 'start']],
]
const SIZES = [
  'perpage',
  'pagesize',
  'limit',
  'maxresults',
  'top',
  'count',
  'size',
  'take',
  'rows',
  'first',
  'maxitems',
]
const SIZE_MAX = 1_000
const LINK_MAX = 4_096
const LISTS = ['items', 'data', 'results', 'records', 'values', 'entries', 'rows', 'list', 'objects', 'members', 'hits']
const PLACES = [
  'paging',
  'pagination',
  'meta',
  'metadata',
  'responsemetadata',
  'pageinfo',
  'page',
  'links',
  'cursors',
  'next',
]
const CURSORS = [
  'nextcursor',
  'nextpagetoken',
  'next',
  'after',
  'nexttoken',
  'continuationtoken',
  'continuation',
  'endcursor',
]
const MORE = ['hasmore', 'hasnext', 'hasnextpage', 'more', 'moreresults']
const TOTALS = ['total', 'totalcount', 'totalresults', 'totalitems', 'totalrecords']

import { createHash } from 'node:crypto'
import { withoutTrailing } from '../kit/text.ts'
import { TOOL_NAME_MAX, toolNameOf } from '../sales/model.ts'
import { KINDS, type Assortment, type Listed, type Product } from './model.ts'

/**
 * Names the tools. The first of several products with one name has it, the others have a suffix of their own, which
 * depends on nothing but the product. Each can also be called with its suffix, so that a name which a client remembers
 * outlives the product that it collided with.
 */
export function withToolNames(products: readonly Product[]): Pick<Assortment, 'listed' | 'byTool'> {
  const byTool = new Map<string, Listed>()
  const listed = nameIn(byTool, products.filter(({ former = false }) => !former).toSorted(inOrder))
  // Afterwards, so that they take no name from what is for sale. Of one name the first in its list has it: the latest to end.
  nameIn(
    byTool,
    products.filter(({ former = false }) => former),
  )
  return { listed, byTool }
}

function nameIn(byTool: Map<string, Listed>, products: readonly Product[]): Listed[] {
  const listed: Listed[] = []
  for (const product of products) {
    const names = [toolNameOf(product.name), ...SUFFIXES.map((length) => suffixed(product, length))]
    const tool = names.find((name) => !byTool.has(name))
    if (tool === undefined) continue
    const named = { ...product, tool }
    byTool.set(tool, named)
    listed.push(named)
  }
  for (const product of listed) {
    const lasting = suffixed(product, SHORT)
    if (!byTool.has(lasting)) byTool.set(lasting, product)
  }
  return listed
}

/** Longer ones are for products whose shorter suffix is another product's name. */
const SHORT = 6
const SUFFIXES = [SHORT, 12, 24]

function suffixed({ kind, id, name }: Product, length: number): string {
  const suffix = createHash('sha256').update(`${kind} ${id}`).digest('hex').slice(0, length)
  return `${withoutTrailing(toolNameOf(name).slice(0, TOOL_NAME_MAX - length - 1), '-')}-${suffix}`
}

type Place = Pick<Product, 'kind' | 'id'>

function inOrder(one: Place, other: Place): number {
  const kinds = KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind)
  if (kinds !== 0) return kinds
  return one.id < other.id ? -1 : Number(one.id > other.id)
}

/** A page of them, and the cursor of the next one. Null for a cursor that is none of ours. */
export function pageOf(
  listed: readonly Listed[],
  cursor: string | undefined,
): { page: readonly Listed[]; next: string | null } | null {
  const after = cursor === undefined ? null : fromCursor(cursor)
  if (after === undefined) return null
  // By its place in the order, not by a number of places: products come and go between two pages.
  const first = after === null ? 0 : listed.findIndex((one) => inOrder(one, after) > 0)
  const page = first < 0 ? [] : listed.slice(first, first + PAGE)
  const last = page.at(-1)
  return { page, next: last === undefined || last === listed.at(-1) ? null : toCursor(last) }
}

function toCursor({ kind, id }: Place): string {
  return Buffer.from(`${kind} ${id}`).toString('base64url')
}

function fromCursor(cursor: string): Place | undefined {
  const text = Buffer.from(cursor, 'base64url').toString()
  const kind = KINDS.find((one) => text.startsWith(`${one} `))
  return kind === undefined ? undefined : { kind, id: text.slice(kind.length + 1) }
}

const PAGE = 50

import { createHash } from 'node:crypto'
import { type Usdc, usdc } from '../../kit/money.ts'
import type { Changes, KnownTool, NewTool, ToolDraft } from '../model/draft.ts'
import type { PriceRule } from '../model/provider.ts'
import type { ToolId, Upstream } from '../model/tool.ts'

/** The changes that a new reading makes to the present tools. `nextId` is called for each tool that is new. */
export function changesOf(
  known: readonly KnownTool[],
  drafts: readonly ToolDraft[],
  pricing: PriceRule,
  nextId: () => ToolId,
): Changes {
  const before = new Map(known.map((tool) => [tool.slug, tool]))
  const added: NewTool[] = []
  const changed: NewTool[] = []
  let unchanged = 0
  for (const draft of drafts) {
    const price = priceOf(pricing, draft.slug, draft.upstream)
    const contentHash = contentHashOf(draft, price)
    const old = before.get(draft.slug)
    if (old === undefined) added.push({ ...draft, id: nextId(), price, contentHash })
    else if (old.contentHash !== contentHash || old.status === 'removed')
      changed.push({ ...draft, id: old.id, price, contentHash })
    else unchanged++
  }
  return { added, changed, removed: goneFrom(known, drafts), unchanged }
}

export function isNothing({ added, changed, removed }: Changes): boolean {
  return added.length + changed.length + removed.length === 0
}

/** The method and path of an HTTP tool, which stay the same when an operation is renamed. */
export function addressOf(upstream: Upstream): string | null {
  return upstream.kind === 'http' ? `${upstream.method} ${upstream.path}` : null
}

function goneFrom(known: readonly KnownTool[], drafts: readonly ToolDraft[]): Changes['removed'] {
  const there = new Set(drafts.map(({ slug }) => slug))
  const byAddress = new Map(
    drafts.flatMap(({ slug, upstream }) => {
      const address = addressOf(upstream)
      return address === null ? [] : [[address, slug] as const]
    }),
  )
  return known.flatMap(({ id, slug, status, successor: old, address }) => {
    if (there.has(slug)) return []
    const successor = (address === null ? undefined : byAddress.get(address)) ?? null
    // A tool that was removed before is changed again only when it has a successor now, or a different one.
    if (status === 'removed' && (successor === null || successor === old)) return []
    return [{ id, slug, successor }]
  })
}

function contentHashOf(draft: ToolDraft, price: Usdc): string {
  const { name, description, category, deprecated, input, output, upstream } = draft
  const content = [name, description, category, deprecated, input, output, upstream, String(price)]
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url')
}

/** The price of a call by its provider's rule: the tool's own price, else its method's, else the price for all. */
function priceOf(rule: PriceRule, slug: string, upstream: Upstream): Usdc {
  const method = upstream.kind === 'http' ? upstream.method : null
  return own(rule.bySlug, slug) ?? (method === null ? undefined : own(rule.byMethod, method)) ?? rule.otherwise
}

/** Names come from foreign documents: one like `constructor` must not find an inherited property. */
function own(prices: Readonly<Record<string, Usdc>> | undefined, name: string): Usdc | undefined {
  return prices !== undefined && Object.hasOwn(prices, name) ? prices[name] : undefined
}

/** A rule with a price for all replaces the earlier rule. Any other rule only changes the prices that it names. */
export function repriced(before: PriceRule | null, given: Partial<PriceRule>): PriceRule {
  const { otherwise } = given
  if (otherwise !== undefined) return { ...given, otherwise }
  const { byMethod = {}, bySlug = {} } = { ...before, ...given }
  return {
    otherwise: before?.otherwise ?? STANDARD_PRICE,
    // Empty parts are left out, so that repeating the same import changes nothing.
    ...(Object.keys(byMethod).length === 0 ? {} : { byMethod }),
    ...(Object.keys(bySlug).length === 0 ? {} : { bySlug }),
  }
}

const STANDARD_PRICE = usdc(1_000n)

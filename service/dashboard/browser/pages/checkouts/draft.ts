import type { Input, Output } from '../../api/procedures.ts'
import { toFieldDraft, toFields, type FieldDraft } from '../../parts/fields.ts'
import { linesOf, orNull, slugOf, toAmount } from '../../parts/texts.ts'

export type Checkout = Output<'checkouts.get'>
type Body = Input<'checkouts.create'>
type Pricing = NonNullable<Body['pricing']>

/** A checkout in the form's state, under the names of the API's body. */
export interface Draft extends Pick<Body, 'network'> {
  product: { name: string; description: string }
  price: string
  /** The texts of all kinds, of which one is sent. */
  pricing: Record<'min' | 'max' | 'suggested' | 'field' | 'prices', string> & { kind: Pricing['kind'] }
  coupons: boolean
  fields: FieldDraft[]
  after: { kind: AfterKind; text: string; url: string; fileId: string; greeting: string }
  /** A file's id. */
  picture: string
  callbackUrl: string
  redirectUrl: string
  recipient: string
  responseMode: NonNullable<Body['responseMode']>
  capture: NonNullable<Body['capture']>
  runSeconds: string
  refundOnFailure: boolean
  preflight: boolean
  testMode: boolean
  notify: { sale: boolean; failure: boolean }
  trialRuns: string
  trialsPerDay: string
  plans: PlanDraft[]
}

export function toDraft(checkout: Checkout | null): Draft {
  return {
    product: { name: checkout?.product.name ?? '', description: checkout?.product.description ?? '' },
    price: checkout === null ? '5' : String(checkout.price),
    pricing: toPricingDraft(checkout?.pricing ?? { kind: 'fixed' }),
    coupons: checkout?.coupons ?? false,
    // The service adds a chat's own field.
    fields: checkout?.chat === null ? checkout.fields.map(toFieldDraft) : [],
    after: toAfterDraft(checkout),
    picture: checkout?.picture?.fileId ?? '',
    callbackUrl: checkout?.callbackUrl ?? '',
    redirectUrl: checkout?.redirectUrl ?? '',
    network: checkout?.network ?? 'base-sepolia',
    recipient: checkout?.recipient ?? '',
    responseMode: checkout?.responseMode ?? 'immediately',
    capture: checkout?.capture ?? 'onPayment',
    runSeconds: String(checkout?.runSeconds ?? 180),
    refundOnFailure: checkout?.refundOnFailure ?? false,
    preflight: checkout?.preflight ?? false,
    testMode: checkout?.testMode ?? true,
    notify: checkout?.notify ?? { sale: false, failure: true },
    trialRuns: String(checkout?.trialRuns ?? 0),
    trialsPerDay: String(checkout?.trialsPerDay ?? 50),
    plans: checkout?.plans.map(toPlanDraft) ?? [],
  }
}

export function toBody(draft: Draft, before: Checkout | null) {
  const { product, price, pricing, fields, after, picture, callbackUrl, redirectUrl, recipient, ...others } = draft
  const { runSeconds, trialRuns, trialsPerDay, plans, ...rest } = others
  return {
    ...rest,
    product: { name: product.name, description: orNull(product.description) },
    // With the other kinds the price follows from them.
    ...(after.kind === 'chat' || pricing.kind === 'fixed' || pricing.kind === 'quantity'
      ? { price: toAmount(price) }
      : {}),
    pricing: toPricing(pricing),
    fields: toFields(fields, before?.fields),
    after: toAfter(after),
    picture: orNull(picture),
    callbackUrl,
    redirectUrl: orNull(redirectUrl),
    recipient: orNull(recipient),
    runSeconds: toAmount(runSeconds),
    trialRuns: toAmount(trialRuns),
    trialsPerDay: toAmount(trialsPerDay),
    plans: toPlans(plans),
    // A failure is not charged in the first place.
    refundOnFailure: rest.refundOnFailure && rest.capture === 'onPayment',
    ...termsOf(after),
  } satisfies Body
}

/** A new one, of `from`: it has also what this form does not show and can be set over the API only. */
export function toCopy(draft: Draft, from: Checkout | null) {
  const body = toBody(draft, from)
  if (from === null) return body
  const { embedOrigins, onUnconfirmed, onError, responseMode } = from
  // What an error means follows from how it answers, where that was changed.
  const same = body.responseMode === responseMode ? { onError } : {}
  return { ...body, embedOrigins, ...(body.after.kind === 'webhook' ? { onUnconfirmed, ...same } : {}) } satisfies Body
}

/** A chat is sold by a workflow too. */
type AfterKind = Checkout['after']['kind'] | 'chat'

function toAfterDraft(checkout: Checkout | null): Draft['after'] {
  const after = { kind: 'webhook' as const, text: '', url: '', fileId: '', ...checkout?.after }
  const chat = checkout?.chat ?? null
  return { ...after, kind: chat === null ? after.kind : 'chat', greeting: chat?.greeting ?? '' }
}

/** What follows from what the buyer gets. */
function termsOf({ kind, greeting }: Draft['after']) {
  if (kind === 'webhook') return { chat: null }
  if (kind !== 'chat') return { chat: null, ...AT_ONCE }
  return { chat: { greeting: orNull(greeting) }, ...OF_CHAT }
}

/** Turns are paid ahead, and their answers are shown where they were asked. Its field is the service's, not a form without one. */
const OF_CHAT = {
  pricing: { kind: 'fixed' },
  fields: null,
  capture: 'onPayment',
  responseMode: 'lastNode',
  redirectUrl: null,
  trialRuns: 0,
} satisfies Partial<Body>

/** What is there already needs no workflow, and cannot fail. */
const AT_ONCE = {
  callbackUrl: null,
  capture: 'onPayment',
  responseMode: 'immediately',
  refundOnFailure: false,
  preflight: false,
} satisfies Partial<Body>

function toAfter({ kind, text, url, fileId }: Draft['after']): NonNullable<Body['after']> {
  switch (kind) {
    case 'webhook':
    case 'chat':
      return { kind: 'webhook' }
    case 'text':
      return { kind, text }
    case 'link':
      return { kind, url }
    case 'file':
      return { kind, fileId }
  }
}

/** What can be shown already, while the form is filled in. */
export function toPreview(draft: Draft): Input<'checkouts.preview'> {
  const { product, price, pricing, coupons, fields, picture, network, ...others } = toBody(draft, null)
  const { recipient, responseMode, capture, testMode } = others
  const { after } = draft
  return {
    network,
    recipient,
    responseMode,
    capture,
    testMode,
    product: { ...product, name: orNull(product.name) ?? 'Your product' },
    pricing,
    coupons,
    ...(price !== undefined && price > 0 ? { price } : {}),
    picture,
    // The page shows only what kind it is, and a file's name.
    ...(after.kind === 'file' && after.fileId === '' ? {} : { after: toAfter({ ...after, ...SAMPLE }) }),
    fields: (fields ?? []).filter(({ name, label }) => name !== '' && label !== ''),
  }
}

const SAMPLE = { text: 'text', url: 'https://example.com' }

function toPricingDraft(pricing: Checkout['pricing']): Draft['pricing'] {
  const { kind } = pricing
  const none = { kind, min: '', max: '', suggested: '', field: '', prices: '' }
  switch (pricing.kind) {
    case 'fixed':
      return none
    case 'quantity':
      return { ...none, min: String(pricing.min), max: String(pricing.max) }
    case 'choose': {
      const { min, max, suggested } = pricing
      return { ...none, min: String(min), max: String(max ?? ''), suggested: String(suggested ?? '') }
    }
    case 'byField': {
      const lines = Object.entries(pricing.prices).map(([option, amount]) => `${option}: ${String(amount)}`)
      return { ...none, field: pricing.field, prices: lines.join('\n') }
    }
  }
}

function toPricing({ kind, min, max, suggested, field, prices }: Draft['pricing']): Pricing {
  switch (kind) {
    case 'fixed':
      return { kind }
    case 'quantity':
      return { kind, min: amountOrNull(min), max: toAmount(max) }
    case 'choose':
      return { kind, min: toAmount(min), max: amountOrNull(max), suggested: amountOrNull(suggested) }
    case 'byField':
      return { kind, field, prices: Object.fromEntries(linesOf(prices).map(toPrice)) }
  }
}

/** An option may have a colon itself. */
function toPrice(line: string): [string, number] {
  const end = line.lastIndexOf(':')
  return end === -1 ? [line, Number.NaN] : [line.slice(0, end).trim(), toAmount(line.slice(end + 1))]
}

function amountOrNull(text: string): number | null {
  return text.trim() === '' ? null : toAmount(text)
}

export interface PlanDraft {
  /** Empty for a new one: its name gives the id. */
  id: string
  name: string
  price: string
  kind: 'runs' | 'period'
  runs: string
  days: string
}

function toPlanDraft({ id, name, price, kind, runs, days }: Checkout['plans'][number]): PlanDraft {
  return { id, name, price: String(price), kind, runs: runs === null ? '' : String(runs), days: String(days ?? 30) }
}

/** A plan keeps its id when it is renamed: passes and links name it. */
function toPlans(drafts: readonly PlanDraft[]): NonNullable<Input<'checkouts.create'>['plans']> {
  const taken = new Set(drafts.map(({ id }) => id))
  return drafts.map((draft) => {
    const id = draft.id === '' ? newId(draft.name, taken) : draft.id
    const { name } = draft
    const price = toAmount(draft.price)
    if (draft.kind === 'runs') return { id, name, price, kind: 'runs', runs: toAmount(draft.runs) }
    const runs = orNull(draft.runs) === null ? null : toAmount(draft.runs)
    return { id, name, price, kind: 'period', days: toAmount(draft.days), runs }
  })
}

function newId(name: string, taken: Set<string>): string {
  const slug = slugOf(name).slice(0, 36) || 'plan'
  const free = [slug, ...Array.from({ length: 10 }, (_, at) => `${slug}-${String(at + 2)}`)].find(
    (id) => !taken.has(id),
  )
  taken.add(free ?? slug)
  return free ?? slug
}

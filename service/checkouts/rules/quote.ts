import { createHmac, timingSafeEqual } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { NETWORKS, networkOf } from '../../chain/networks.ts'
import { invalid } from '../../kit/errors.ts'
import { usdc } from '../../kit/money.ts'
import type { Raw } from '../../kit/schema/merge.ts'
import type { Offer } from '../../sales/model.ts'
import type { Discount } from '../../coupons/model.ts'
import { quoteExpired, quoteForAnother } from '../errors.ts'
import { isLate, type Checkout, type Choice, type Lines, type Quote } from '../model.ts'
import { inputSchemaOf } from './choice.ts'
import { linesOfTotal, priceOf } from './price.ts'

/** What a buyer signs for at this quote; null without a recipient, and for the escrow without its terms. */
export function offerOf(
  checkout: Checkout,
  quote: Quote,
  { address, escrow }: { address: string; escrow: NonNullable<Offer['escrow']> | null },
): Offer | null {
  const { id, product, capture } = checkout
  const { price: amount, network, recipient } = quote
  if (recipient === null || (capture === 'escrow' && escrow === null)) return null
  const work = isLate(capture) ? { workMs: workMsOf(checkout) } : {}
  const held = capture === 'escrow' && escrow !== null ? { escrow } : {}
  const input = inputSchemaOf(checkout)
  return { slug: id, name: product.name, address, amount, network, recipient, input, ...work, ...held }
}

export function workMsOf({ runSeconds }: Pick<Checkout, 'runSeconds'>): number {
  return runSeconds * 1_000
}

/** The current price of a choice, valid for ten minutes, or until its code ends. */
export function quoteOf(
  { network, recipient, version }: Checkout,
  { lines, plan, until }: PricedChoice,
  now: Date,
): Quote {
  const expiresAt = new Date(Math.min(now.getTime() + HELD_MS, until?.getTime() ?? Infinity))
  return { price: lines.total, lines, plan, network, recipient, version, expiresAt }
}

/** What a choice costs, and when its code ends. */
export interface PricedChoice {
  lines: Lines
  /** The id of the plan that it is for. */
  plan: string | null
  until: Date | null
}

const HELD_MS = 600_000

/** The id is the signed quote itself: the server stores no quotes, and only the server can sign one. */
export function toQuoteId(checkout: Checkout['id'], quote: Quote, key: Buffer): string {
  const { price, network, recipient, version, expiresAt, lines, plan } = quote
  const terms = [String(price), NETWORKS[network].name, recipient ?? '', String(expiresAt.getTime())]
  const chosen = lines === null ? [] : [String(lines.unit), String(lines.quantity), lines.coupon ?? '', plan ?? '']
  return sealed(checkout, [...terms, ...(version === null ? [] : [String(version), ...chosen])].join('|'), key)
}

/** The version that a quote was shown with, however old it is. Null where this checkout made no such quote. */
export function versionQuoted(checkout: Checkout['id'], quoteId: string | null, key: Buffer): number | null {
  const [, , , , version] = (quoteId === null ? null : unsealed(checkout, quoteId, key))?.split('|') ?? []
  return version === undefined ? null : Number(version)
}

/** The quote that this checkout made; throws if it made no such quote or if the quote has expired. */
export function fromQuoteId(checkout: Checkout['id'], quoteId: string, key: Buffer, now: Date): Quote {
  const text = unsealed(checkout, quoteId, key)
  if (text === null) throw invalid({ quoteId: 'must be a quote from this checkout' })
  const [price = '', name = '', recipient = '', until = '', version, unit, quantity, code = '', plan = ''] =
    text.split('|')
  const network = networkOf(name)
  if (network === null) throw invalid({ quoteId: 'names a network that is no longer supported' })
  const expiresAt = new Date(Number(until))
  if (expiresAt <= now) throw quoteExpired()
  const total = usdc(BigInt(price))
  const chosen = { quantity: Number(quantity), coupon: code === '' ? null : code }
  return {
    price: total,
    lines: unit === undefined ? null : linesOfTotal(total, { ...chosen, unit: usdc(BigInt(unit)) }),
    plan: plan === '' ? null : plan,
    network: network.name,
    recipient: recipient === '' ? null : (recipient as `0x${string}`),
    version: version === undefined ? null : Number(version),
    expiresAt,
  }
}

/**
 * What is bought at a quote, by today's terms or those that it was shown with. A quote is for one choice: with another
 * one, or with an input that costs something else, it buys nothing.
 */
export function linesAt({ price, lines, plan, version }: Quote, checkout: Checkout, bought: Bought): Lines {
  // Of a version that is not kept any more the price is still promised.
  const terms = version === checkout.version ? checkout : { ...checkout, price: lines?.unit ?? price }
  const now = priceOf(terms, bought.input, bought.choice, bought.coupon)
  const quoted = lines ?? linesOfTotal(price, { unit: price, quantity: 1, coupon: null })
  if (!isDeepStrictEqual(now, quoted) || plan !== (bought.choice.plan ?? null)) throw quoteForAnother()
  return now
}

interface Bought {
  input: Raw
  choice: Choice
  coupon: Discount | null
}

/**
 * A quote is valid only while its checkout is sold on its network: a quote in test money must not buy what costs real money
 * now. An order whose address was given out keeps its network, because money may be on its way there. A sandbox takes no
 * real money, so a quote from test mode for a live network is not valid there once the test mode is over.
 */
export function assertQuoted({ network }: Quote, checkout: Checkout, byTransfer: boolean): void {
  const { owner, testMode, networkNow = checkout.network } = checkout
  if (network !== networkNow && !byTransfer) throw quoteExpired()
  if (owner.environment === 'sandbox' && NETWORKS[network].live && !testMode) throw quoteExpired()
}

/** A text that this checkout signed, for a client that brings it back. The client can read it and not change it. */
export function sealed(checkout: Checkout['id'], content: string, key: Buffer): string {
  const text = Buffer.from(content).toString('base64url')
  return `${text}.${signed(checkout, text, key).toString('base64url')}`
}

/** Null unless this checkout signed it with this key. */
export function unsealed(checkout: Checkout['id'], seal: string, key: Buffer): string | null {
  const [text = '', signature = ''] = seal.split('.')
  const given = Buffer.from(signature, 'base64url')
  const expected = signed(checkout, text, key)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
  return Buffer.from(text, 'base64url').toString()
}

function signed(checkout: string, text: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(`${checkout}.${text}`).digest()
}

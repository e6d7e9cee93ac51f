import { readJson } from '../../kit/json.ts'
import { canonicalJson } from '../../kit/hash.ts'
import { invalid } from '../../kit/errors.ts'
import type { Id } from '../../kit/ids.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import { orderExpired } from '../errors.ts'
import type { Checkout, Choice } from '../model.ts'
import { fromWireChoice, toWireChoice } from './choice.ts'
import { sealed, unsealed } from './quote.ts'

/** A purchase that a model's call asked for and a person pays on the page: its input and its payment's id are fixed. */
export interface CallOrder {
  operation: Id<'op'>
  input: Raw
  choice: Choice
  /** No payment begins after it. */
  until: Date
}

/** A person has this long to open the page and to pay. */
const LIVES_MS = 1_800_000

/**
 * The order as a signed text. Anyone who has it can read it and pay for it, which gives the caller its answer; no one
 * can change what is bought.
 */
export function toOrder(
  checkout: Checkout['id'],
  { operation, input, choice }: Omit<CallOrder, 'until'>,
  by: Signing,
): string {
  const content = canonicalJson([operation, by.now.getTime() + LIVES_MS, input, toWireChoice(choice)])
  return sealed(checkout, content, by.key)
}

/** The order that this checkout signed. Whether it can still be paid is another question: see `assertOrderOpen`. */
export function fromOrder(checkout: Checkout['id'], text: string, key: Buffer): CallOrder {
  const content = unsealed(checkout, text, key)
  const [operation, until, input, chosen = {}] = content === null ? [] : (readJson(content) as unknown[])
  if (typeof until !== 'number' || !isRecord(input)) throw invalid({ order: 'must be an order from this checkout' })
  const choice = fromWireChoice(chosen as Choice<number>)
  return { operation: operation as Id<'op'>, input, choice, until: new Date(until) }
}

/** Only for a payment that is new: one that was begun in time goes on. */
export function assertOrderOpen({ until }: Pick<CallOrder, 'until'>, now: Date): void {
  if (until <= now) throw orderExpired()
}

/** The page's address with the order after the hash, so that no log of a server contains the input. Null if too long. */
export function orderLink(page: string, order: string): string | null {
  const link = `${page}#order=${order}`
  return link.length <= LINK_LENGTH_MAX ? link : null
}

/** Some clients and browsers cut longer addresses. */
const LINK_LENGTH_MAX = 2_000

interface Signing {
  key: Buffer
  now: Date
}

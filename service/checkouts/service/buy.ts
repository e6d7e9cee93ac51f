import { accountOf, type Caller } from '../../identity/model.ts'
import { DomainError, invalid } from '../../kit/errors.ts'
import { readInput, sampleInput } from '../../kit/fields.ts'
import { idLike, type Id } from '../../kit/ids.ts'
import {
  authorizationUsed,
  checkoutMissing,
  inTestMode,
  notInTestMode,
  quoteExpired,
  refusalOf,
  workflowUnavailable,
} from '../errors.ts'
import { ZERO_ADDRESS, type Authorized, type Checkout, type Payment, type PaymentView } from '../model.ts'
import type { Sale } from '../ports.ts'
import { assertSells, deliveryOf, hashOf, isSensible, nextResume, simulatedHash } from '../rules/life.ts'
import { assertQuoted, fromQuoteId, quoteOf } from '../rules/quote.ts'
import { readPayload, requirementsOf } from '../rules/x402.ts'
import type { Following } from './follow.ts'
import type { CheckoutParts } from './parts.ts'
import type { Settling } from './settle.ts'
import type { Showing } from './show.ts'
import type { Watching } from './watch.ts'

export type Given = Readonly<Record<string, unknown>>

/** What somebody pays with, and for which input. */
export interface Purchase {
  input: Given
  /** How the input's fields are called in what they sent: `input.site`, or `site` alone. */
  named: (field: string) => string
  /** The x402 payload; null to simulate. */
  payload: unknown
  /** The price that was promised; today's when null. */
  quoteId: string | null
  /** Waits for the workflow's answer, where it is shown to payers: an agent asks once and not again. */
  patient?: boolean
}

/** From an input and an authorization to a payment. Whatever is wrong is said before any money moves. */
export function createBuying(parts: BuyingParts) {
  const { store, payments, deliveries, facilitator, callbacks, clock, log, quoteKey } = parts
  const { settling, showing, watching, following, checkpoint } = parts

  async function pay(id: string, purchase: Purchase, operation: Id<'op'>): Promise<PaymentView> {
    const checkout = await store.find(id)
    if (checkout === null) throw checkoutMissing()
    const view = await showing.sale(await buy(checkout, purchase, operation))
    return purchase.patient === true && checkout.responseMode === 'lastNode' ? await following.rested(view) : view
  }

  async function buy(checkout: Checkout, purchase: Purchase, operation: Id<'op'>): Promise<Sale> {
    const known = await findKnown(checkout, purchase)
    if (known !== null) return await carryOn(known)
    assertSells(checkout, clock.now())
    return purchase.payload === null
      ? await simulate(checkout, purchase, operation)
      : await carryOn(await accept(checkout, purchase, operation))
  }

  /** From here on there is a payment: whatever goes wrong now is told as not known yet, under its id. */
  async function carryOn(sale: Sale): Promise<Sale> {
    try {
      return await settling.settle(sale)
    } catch (error) {
      log.error({ payment: sale.payment.id, err: error }, 'a payment could not be carried on; the sweeper does')
      return sale
    }
  }

  /** The same authorization for the same input again is the same payment, also where its checkout is gone since. */
  async function findKnown(checkout: Checkout, { input, payload }: Purchase): Promise<Sale | null> {
    const digest = payload === null ? null : digestOf(checkout, payload)
    const known = digest === null ? null : await payments.findByDigest(digest)
    return known === null ? null : assertSame(known, checkout, input)
  }

  /** Of the network that the payload speaks of: the checkout may have moved to another since. */
  function digestOf(checkout: Checkout, payload: unknown): Authorized['digest'] | null {
    const { network } = readPayload(payload)
    const recipient = checkout.recipient ?? ZERO_ADDRESS
    const quote = { ...quoteOf(checkout, clock.now()), recipient, network: network ?? checkout.network }
    return facilitator.purchases.digestOf(read(requestOf(checkout, quote, payload)))
  }

  /** The facilitator names what is wrong in a request of its own; here only the payload is somebody else's. */
  function read(request: unknown) {
    try {
      return facilitator.read(request)
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error
      const details = Object.entries(error.fields['details'] as Record<string, string>)
      throw invalid(
        Object.fromEntries(details.map(([name, fault]) => [name.replace(/^payment\./, ''), fault])),
        error.code,
      )
    }
  }

  function requestOf(checkout: Checkout, quote: ReturnType<typeof quoteOf>, payload: unknown): unknown {
    const requirements = requirementsOf(checkout, quote, showing.addressOf(checkout))
    // The price was promised while nobody was paid: there is nobody to pay it to.
    if (requirements === null) throw quoteExpired()
    const { version } = readPayload(payload)
    return {
      x402Version: version,
      paymentPayload: payload,
      paymentRequirements: version === 1 ? requirements.v1 : requirements.v2,
    }
  }

  async function accept(checkout: Checkout, purchase: Purchase, operation: Id<'op'>): Promise<Sale> {
    if (checkout.testMode) throw inTestMode()
    const input = valuesOf(checkout, purchase)
    const now = clock.now()
    const { payload, quoteId } = purchase
    const quote = quoteId === null ? quoteOf(checkout, now) : fromQuoteId(checkout.id, quoteId, quoteKey, now)
    assertQuoted(quote, checkout.owner.environment)
    const request = requestOf(checkout, quote, payload)
    const presented = read(request)
    const { refusal, payer } = await facilitator.verify(presented)
    const digest = facilitator.purchases.digestOf(presented)
    if (refusal !== null || digest === null || payer === null) {
      // Its own twin may just have been settled.
      const twin = await findKnown(checkout, purchase)
      if (twin !== null) return twin
      throw refusalOf(refusal ?? 'unsupported_payload_type')
    }
    await preflight(checkout)
    const payment: Payment = {
      ...begun(checkout, input, operation, now),
      state: 'created',
      amount: quote.price,
      network: quote.network,
      recipient: quote.recipient,
      payer: payer.toLowerCase() as Payment['payer'],
    }
    return await claim({ payment, checkout, authorized: { digest, request }, inputHash: hashOf(purchase.input) })
  }

  /** The authorization and the payment that it pays, together: from here on it buys nothing else, anywhere. */
  async function claim(sale: Sale & { authorized: Authorized }): Promise<Sale> {
    const { payment, checkout, authorized, inputHash } = sale
    const { digest } = authorized
    const resumeAt = nextResume(payment.createdAt, payment.createdAt)
    const buys = await store
      .inTransaction(async (inside) => {
        const bought = await facilitator.purchases.claim(inside, { digest, buys: payment.id })
        if (bought !== payment.id) return bought
        const added = await payments.add(inside, { payment, authorized, inputHash, resumeAt })
        // Thrown, for what is not sold must not keep the authorization.
        if (added === null) throw new Unsold()
        return bought
      })
      .catch((error: unknown) => {
        if (error instanceof Unsold) return null
        throw error
      })
    if (buys === payment.id) {
      await checkpoint('accepted')
      return sale
    }
    const twin = await payments.find(buys ?? payment.id)
    if (twin === null && buys === null) throw await unsold(checkout)
    if (twin?.inputHash.compare(inputHash) !== 0) throw authorizationUsed()
    return assertSame(twin, checkout)
  }

  async function simulate(checkout: Checkout, purchase: Purchase, operation: Id<'op'>): Promise<Sale> {
    if (!checkout.testMode) throw notInTestMode()
    const input = valuesOf(checkout, purchase)
    await preflight(checkout)
    const now = clock.now()
    const begin = begun(checkout, input, operation, now)
    const payment: Payment = {
      ...begin,
      state: 'paid',
      payer: ZERO_ADDRESS,
      simulated: true,
      txHash: simulatedHash(begin.id),
      paidAt: now,
    }
    const inputHash = hashOf(purchase.input)
    const sale: Sale = { payment, checkout, authorized: null, inputHash }
    const made = await store.inTransaction(async (inside) => {
      const added = await payments.add(inside, { payment, authorized: null, inputHash, resumeAt: null })
      if (added !== null) await deliveries.write(inside, deliveryOf(payment, checkout, now))
      return added
    })
    if (made !== null) return sale
    // The same request again, after an answer that got lost; or the checkout has just ended.
    const before = await payments.find(payment.id)
    if (before === null) throw await unsold(checkout)
    return before
  }

  function begun(checkout: Checkout, input: Payment['input'], operation: Id<'op'>, now: Date) {
    const { owner, price: amount, network, recipient } = checkout
    const id = idLike('pay', operation)
    const rest = { simulated: false, txHash: null, reason: null, createdAt: now, paidAt: null }
    return { id, checkoutId: checkout.id, owner, amount, network, recipient, input, ...rest }
  }

  /** Why a payment did not come to be although all was well a moment ago. */
  async function unsold(checkout: Checkout): Promise<Error> {
    try {
      assertSells(await store.find(checkout.id), clock.now())
      return new Error('a payment was refused without a reason')
    } catch (error) {
      return error as Error
    }
  }

  /** Asks the workflow whether it is there, where its owner wants that: no money for a dead one. */
  async function preflight(checkout: Checkout): Promise<void> {
    if (!checkout.preflight) return
    const answer = await callbacks.ask(checkout.callbackUrl)
    if (answer !== null && isSensible(answer.status, answer.body)) return
    await watching.attempted(checkout.id, { status: answer?.status ?? null })
    throw workflowUnavailable()
  }

  return {
    pay,

    /** The owner tries what a payment does; in test mode, as everybody may. */
    async testPayment(caller: Caller, id: string, input: Given | null, operation: Id<'op'>): Promise<PaymentView> {
      const checkout = await store.findOwn(accountOf(caller), id)
      if (checkout === null) throw checkoutMissing()
      assertSells(checkout, clock.now())
      const given = input ?? sampleInput(checkout.fields)
      const named = (field: string): string => `input.${field}`
      return await showing.sale(
        await simulate(checkout, { input: given, named, payload: null, quoteId: null }, operation),
      )
    },

    /** For an agent without a payment: what is wrong with its input, else what it has to pay. */
    async offer(id: string, input: Given) {
      const checkout = await store.find(id)
      assertSells(checkout, clock.now())
      if (checkout.testMode) throw inTestMode()
      valuesOf(checkout, { input, named: (field) => field })
      return showing.offer(checkout)
    },
  }
}

interface BuyingParts extends CheckoutParts {
  settling: Settling
  showing: Showing
  watching: Watching
  following: Pick<Following, 'rested'>
}

/** Undoes a claim. */
class Unsold extends Error {}

function valuesOf({ fields }: Checkout, { input, named }: Pick<Purchase, 'input' | 'named'>): Payment['input'] {
  const read = readInput(fields, input)
  if ('values' in read) return read.values
  throw invalid(Object.fromEntries(Object.entries(read.faults).map(([field, fault]) => [named(field), fault])))
}

function assertSame(known: Sale, checkout: Checkout, input?: Given): Sale {
  const same = input === undefined || known.inputHash.compare(hashOf(input)) === 0
  if (known.checkout.id !== checkout.id || !same) throw authorizationUsed()
  return known
}

import type { Hex } from '../../chain/model.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import { authorizationUsed } from '../../sales/errors.ts'
import type { Presented, RequestBody } from '../../x402/model.ts'
import { readRequest, requestOf } from '../../x402/payload.ts'
import { assertBuyer, chosenTokenHash } from '../../sales/service/proof.ts'
import { invalid } from '../../kit/errors.ts'
import { readInput, sampleInput } from '../../kit/fields.ts'
import { idLike, isId, type Id } from '../../kit/ids.ts'
import {
  checkoutMissing,
  badProof,
  inTestMode,
  notInTestMode,
  quoteExpired,
  refusalOf,
  workflowUnavailable,
} from '../errors.ts'
import {
  ZERO_ADDRESS,
  type Authorized,
  type Checkout,
  type Payment,
  type PaymentView,
  type Quote,
  type SimulatedOutcome,
} from '../model.ts'
import type { Sale } from '../ports.ts'
import {
  assertSells,
  deliveryOf,
  hashOf,
  isSensible,
  nextResume,
  simulatedAs,
  SLOW_SETTLING_MS,
} from '../rules/life.ts'
import { assertQuoted, fromQuoteId, quoteOf } from '../rules/quote.ts'
import { requirementsOf } from '../rules/x402.ts'
import type { Failures } from './failures.ts'
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
  /** Null to simulate. */
  presented: Presented | null
  /** What a simulated payment comes to; `paid` when absent. */
  outcome?: SimulatedOutcome
  /** The price that was promised; today's when null. */
  quoteId: string | null
  /** The token of the payment, or one that the buyer chooses for a new one. */
  token: string | null
  /** A payment that was made here: its id, or the nonce of its authorization. */
  paymentId: string | null
  /** Waits for the workflow's answer, where it is shown to payers: an agent asks once and not again. */
  patient?: boolean
}

/** From an input and an authorization to a payment. Whatever is wrong is said before any money moves. */
export function createBuying(parts: BuyingParts) {
  const { store, payments, deliveries, facilitator, callbacks, clock, log, quoteKey, tokens, receiptOf } = parts
  const { settling, showing, watching, following, failures, checkpoint } = parts

  async function pay(id: string, purchase: Purchase, operation: Id<'op'>): Promise<PaymentView> {
    const checkout = await store.find(id)
    if (checkout === null) throw checkoutMissing()
    const view = await showing.sale(await buy(checkout, purchase, operation), 'buyer')
    return purchase.patient === true && checkout.responseMode === 'lastNode' ? await following.rested(view) : view
  }

  async function buy(checkout: Checkout, purchase: Purchase, operation: Id<'op'>): Promise<Sale> {
    const { paymentId } = purchase
    if (paymentId !== null) return await carryOn(await proven(checkout, purchase, paymentId))
    const known = await findKnown(checkout, purchase)
    if (known !== null) return await carryOn(known)
    // The same request by its Idempotency-Key: nothing is paid here, so the key is proof enough.
    const simulated = purchase.presented === null ? await payments.find(idLike('pay', operation)) : null
    if (simulated !== null) return assertSame(simulated, checkout, purchase.input)
    assertSells(checkout, clock.now())
    const { presented } = purchase
    return presented === null
      ? await simulate(checkout, purchase, operation)
      : await carryOn(await accept(checkout, { ...purchase, presented }, operation))
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
  async function findKnown(checkout: Checkout, purchase: Purchase): Promise<Sale | null> {
    const digest = purchase.presented === null ? null : facilitator.purchases.digestOf(purchase.presented)
    const known = digest === null ? null : await payments.findByDigest(digest)
    return known === null ? null : boughtBy(known, checkout, purchase)
  }

  /** Throws unless it was this caller who bought it, here and for this input. */
  function boughtBy(known: Sale, checkout: Checkout, { input, token, presented }: Purchase): Sale {
    const { payment, authorized, tokenHash } = known
    const claimed = authorized === null ? null : readRequest(authorized.request).authorization
    assertBuyer(
      { signature: claimed?.signature ?? '', submitted: payment.state !== 'created' },
      { signature: presented?.authorization?.signature ?? null, token: tokens.matches(payment.id, tokenHash, token) },
    )
    return assertSame(known, checkout, input)
  }

  /** A payment that is named by its buyer: with the token, or with a signature that no chain has seen. */
  async function proven(checkout: Checkout, purchase: Purchase, name: string): Promise<Sale> {
    const { input, presented, token } = purchase
    const known = await named(presented, name)
    if (known?.checkout.id !== checkout.id) throw badProof('names no payment at this checkout')
    if (tokens.matches(known.payment.id, known.tokenHash, token)) return assertSame(known, checkout, input)
    const { amount, network, recipient, payer } = known.payment
    if (presented === null) throw badProof("needs the payment's token beside it, or a fresh signature of its payer")
    const quote = { ...quoteOf(checkout, clock.now()), price: amount, network, recipient }
    const fresh = readRequest(bodyOf(checkout, quote, presented))
    const { refusal, payer: signer } = await facilitator.verify(fresh)
    if (signer?.toLowerCase() !== payer) throw badProof('needs a signature of its own payer')
    if (refusal !== null) throw refusalOf(refusal)
    const digest = facilitator.purchases.digestOf(fresh)
    if (digest === null || digest === known.authorized?.digest) throw badProof('needs a fresh signature')
    const proof = { digest, buys: known.payment.id }
    if (!(await store.inTransaction((inside) => facilitator.purchases.prove(inside, proof)))) throw authorizationUsed()
    return assertSame(known, checkout, input)
  }

  /** Who lost the answer knows the nonce of what they signed, and not the payment's id. */
  async function named(presented: Presented | null, name: string): Promise<Sale | null> {
    if (isId('pay', name)) return await payments.find(name)
    const { network = null, authorization = null } = presented ?? {}
    if (network === null || authorization === null || !NONCE.test(name)) return null
    const digest = await facilitator.purchases.digestBy(network.name, authorization.from, name as Hex)
    return digest === null ? null : await payments.findByDigest(digest)
  }

  function bodyOf(checkout: Checkout, quote: Quote, presented: Presented): RequestBody {
    const requirements = requirementsOf(checkout, quote, showing.addressOf(checkout))
    // The price was promised while nobody was paid: there is nobody to pay it to.
    if (requirements === null) throw quoteExpired()
    return requestOf(presented, requirements)
  }

  async function accept(checkout: Checkout, purchase: Paying, operation: Id<'op'>): Promise<Sale> {
    if (checkout.testMode) throw inTestMode()
    const input = valuesOf(checkout, purchase)
    const quote = quoteFor(checkout, purchase)
    assertQuoted(quote, checkout.owner.environment)
    const request = bodyOf(checkout, quote, purchase.presented)
    const payable = readRequest(request)
    const { refusal, payer } = await facilitator.verify(payable)
    const digest = facilitator.purchases.digestOf(payable)
    if (refusal !== null || digest === null || payer === null) {
      // Its own twin may just have been settled.
      const twin = await findKnown(checkout, purchase)
      if (twin !== null) return twin
      const reason = refusal ?? 'unsupported_payload_type'
      await failures.refused(checkout, { quote, presented: payable, digest, reason })
      throw refusalOf(reason)
    }
    await preflight(checkout)
    const payment: Payment = {
      ...begun(checkout, quote, input, operation),
      state: 'created',
      payer: payer.toLowerCase() as Payment['payer'],
    }
    const inputHash = hashOf(purchase.input)
    const tokenHash = chosenTokenHash(purchase.token)
    const sale = { payment, checkout, authorized: { digest, request }, inputHash, tokenHash }
    return await claim(sale, purchase)
  }

  /** What was promised, in test mode as with money; without a promise what is asked today. */
  function quoteFor(checkout: Checkout, { quoteId }: Purchase): Quote {
    const now = clock.now()
    return quoteId === null ? quoteOf(checkout, now) : fromQuoteId(checkout.id, quoteId, quoteKey, now)
  }

  /** The authorization and the payment that it pays, together: from here on it buys nothing else, anywhere. */
  async function claim(sale: Sale & { authorized: Authorized }, purchase: Purchase): Promise<Sale> {
    const { payment, checkout, authorized, inputHash, tokenHash } = sale
    const { digest } = authorized
    const resumeAt = nextResume(payment.createdAt, payment.createdAt)
    const buys = await store
      .inTransaction(async (inside) => {
        const bought = await facilitator.purchases.claim(inside, { digest, buys: payment.id })
        if (bought !== payment.id) return bought
        const added = await payments.add(inside, { payment, authorized, inputHash, tokenHash, resumeAt })
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
    if (twin === null) throw authorizationUsed()
    return boughtBy(twin, checkout, purchase)
  }

  async function simulate(checkout: Checkout, purchase: Purchase, operation: Id<'op'>): Promise<Sale> {
    if (!checkout.testMode) throw notInTestMode()
    const input = valuesOf(checkout, purchase)
    const quote = quoteFor(checkout, purchase)
    await preflight(checkout)
    const now = clock.now()
    const begin = begun(checkout, quote, input, operation)
    const { outcome = 'paid' } = purchase
    const payment: Payment = {
      ...begin,
      payer: ZERO_ADDRESS,
      simulated: true,
      ...simulatedAs(outcome, begin.id, now),
    }
    const inputHash = hashOf(purchase.input)
    const tokenHash = chosenTokenHash(purchase.token)
    const sale: Sale = { payment, checkout, authorized: null, inputHash, tokenHash }
    const made = await store.inTransaction(async (inside) => {
      const resumeAt = payment.state === 'created' ? new Date(now.getTime() + SLOW_SETTLING_MS) : null
      const added = await payments.add(inside, { payment, authorized: null, inputHash, tokenHash, resumeAt })
      if (added?.state === 'failed') await failures.failed(inside, added)
      if (added?.state !== 'paid') return added
      const failsFirst = outcome === 'delivery_failed'
      const about = { paidAt: now, receiptUrl: receiptOf(payment.id), failsFirst }
      await deliveries.write(inside, deliveryOf(payment, checkout, about))
      return added
    })
    if (made !== null) return sale
    // The same request again, after an answer that got lost; or the checkout has just ended.
    const before = await payments.find(payment.id)
    if (before === null) throw await unsold(checkout)
    return assertSame(before, checkout, purchase.input)
  }

  function begun({ id: checkoutId, owner }: Checkout, quote: Quote, input: Payment['input'], operation: Id<'op'>) {
    const { price: amount, network, recipient } = quote
    const id = idLike('pay', operation)
    const rest = { simulated: false, txHash: null, reason: null, createdAt: clock.now(), paidAt: null }
    return { id, checkoutId, owner, amount, network, recipient, input, ...rest }
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
      const purchase: Purchase = { input: given, named, presented: null, quoteId: null, token: null, paymentId: null }
      return await showing.sale(await simulate(checkout, purchase, operation), 'buyer')
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
  failures: Failures
  showing: Showing
  watching: Watching
  following: Pick<Following, 'rested'>
}

const NONCE = /^0x[0-9a-f]{64}$/

type Paying = Purchase & { presented: Presented }

/** Undoes a claim. */
class Unsold extends Error {}

function valuesOf({ fields }: Checkout, { input, named }: Pick<Purchase, 'input' | 'named'>): Payment['input'] {
  const read = readInput(fields, input)
  if ('values' in read) return read.values
  throw invalid(Object.fromEntries(Object.entries(read.faults).map(([field, fault]) => [named(field), fault])))
}

function assertSame(known: Sale, checkout: Checkout, input: Given): Sale {
  const same = known.inputHash.compare(hashOf(input)) === 0
  if (known.checkout.id !== checkout.id || !same) throw authorizationUsed()
  return known
}

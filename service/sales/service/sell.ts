import type { Hex } from '../../chain/model.ts'
import type { Presented, RequestBody } from '../../x402/model.ts'
import { identifierIn } from '../../x402/identifier.ts'
import { readRequest, requestOf } from '../../x402/payload.ts'
import { outlasts } from '../../x402/requirements.ts'
import { isUsed, OTHER_PRICE } from '../../x402/reasons.ts'
import { authorizationUsed, lapsesTooSoon, paymentRefunded, paymentRefused, paymentSubmitted } from '../errors.ts'
import { claimedSale, isGoingBack, wasPaid, type PaymentMethod, type NewSale, type Sale } from '../model.ts'
import { isAsOffered, isSubmitted, owedUntil } from '../rules.ts'
import type { Claim, Verified } from '../ports.ts'
import { createUnsignedSelling } from './unsigned.ts'
import { createProcessing } from './process.ts'
import { createRecognition, type Known } from './recognize.ts'
import type { PurchaseRequest, Delivery, Product, SellingDeps, Sold, Standing, Terms } from './deps.ts'
import { tokenHash } from './proof.ts'

/** A valid authorization, before a sale was made from it. */
export interface Judged {
  digest: Hex
  request: RequestBody
  payer: Sale['payer']
  identifier: Sale['identifier']
  balance: bigint | null
  terms: Terms
  paymentMethod: PaymentMethod
}

/**
 * From an authorization to an answer, for every product. A refusal before the claim leaves no trace. The claim and the
 * sale are one transaction. From then on every state has an owner, a lease and a sweeper.
 */
export function createSelling<Order extends PurchaseRequest, Value>(deps: SellingDeps, product: Product<Order, Value>) {
  const { journal, method, dialects, tokens, clock, failpoints } = deps
  const processing = createProcessing(deps, product)
  const { boughtBy, asBought, usedBy, proven } = createRecognition(deps, product)

  async function buy(order: Order): Promise<Sold<Value>> {
    if (order.payment !== null) return await replay(order, await proven(order, order.payment))
    const judged = await judge(order)
    return 'known' in judged ? await replay(order, judged) : await begin(order, judged)
  }

  /** Checks an authorization before anything is made from it. */
  async function judge(order: Order): Promise<Judged | Known> {
    const { presented } = order
    if (presented === null) throw new Error('a purchase has neither a payment nor an earlier sale')
    const identifier = identifierIn(presented, product.requiresIdentifier?.(order) ?? false)
    const digest = method.digestOf(presented)
    const known = await boughtBy(order, digest)
    if (known !== null) return known
    const terms = product.terms({ ...order, presented })
    const request = requestOf(presented, terms.requirements)
    const unanswered = dialects.refusal(presented, terms.requirements)
    const verified: Verified = unanswered === null ? await method.verify(request) : { refusal: unanswered, payer: null }
    const { refusal, payer, payerHasCode = false, balance = null } = verified
    if (refusal !== null || digest === null || payer === null) {
      // A second request with the same authorization may just have been settled.
      const twin = await boughtBy(order, digest)
      if (twin !== null) return twin
      const reason = refusal ?? 'unsupported_payload_type'
      await product.refused?.({ ...order, presented }, terms, { reason, digest })
      throw paymentRefused(reason)
    }
    const buyer = payer.toLowerCase() as Sale['payer']
    const used = await usedBy(order, { digest, payer: buyer, identifier })
    if (used !== null) return used
    // A wallet with code may revoke its authorization while the work is done, so its money moves first. A seller who
    // charges after the success takes that risk, as for every payer who empties their wallet meanwhile.
    const isRisked = terms.holds === true || terms.promised === true
    const workMs = payerHasCode && !isRisked ? 0 : terms.workMs
    assertOutlasts(presented.authorization, workMs, clock.now())
    const paymentMethod = method.choose(presented, terms.requirements)
    return { digest, request, payer: buyer, identifier, balance, paymentMethod, terms: { ...terms, workMs } }
  }

  async function begin(order: Order, judged: Judged): Promise<Sold<Value>> {
    const leave = await product.enter?.(order)
    try {
      return await claim(order, judged)
    } finally {
      leave?.()
    }
  }

  async function claim(order: Order, { balance, ...judged }: Judged): Promise<Sold<Value>> {
    const now = clock.now()
    const { workMs, holds = false, promised = holds, note } = judged.terms
    const id = product.idOf(order.operation)
    const state = holds ? 'held' : 'claimed'
    // The token gives access to what was paid for. It is the buyer's own choice, or else the one made here.
    const sold = saleOf(judged, { id, now, token: order.token ?? tokens.of(id) })
    const { leaseUntil, resumeAt } = processing.leaseFor({ workMs, holds })
    const sale: NewSale = { ...sold, product: product.name, leaseUntil }
    const bought = await journal.begin(sale, { state, resumeAt, promised, balance, note })
    if (bought !== sale.id) {
      const twin = await journal.findById(bought)
      if (twin === null) throw authorizationUsed()
      return await replay(order, asBought(order, twin))
    }
    await failpoints.reach('sale claimed')
    return await processing.processSale(order, { ...claimedSale(sale), state }, workMs === 0)
  }

  /** The same sale for the same request goes on; one that has been used up does not. */
  async function replay(order: Order, { known, proven: isProven }: Known): Promise<Sold<Value>> {
    product.assertSame(known, order)
    const now = clock.now()
    const { delivery } = product
    if (delivery === null) return await processing.processSale(order, known, true)
    assertOwed(known, delivery, now)
    const isBusy = known.leaseUntil !== null && known.leaseUntil > now
    // A stored answer needs no work.
    const isMade = isSubmitted(known) && (await journal.answerOf(known.id)) !== null
    if (isBusy) {
      if (delivery.joins && isMade && known.state === 'settling') return await processing.join(order, known, delivery)
      throw delivery.errors.busy(known)
    }
    const leave = isMade ? undefined : await enterAgain(product, order, { known, delivery })
    try {
      return await resume(order, known, { delivery, isProven })
    } finally {
      leave?.()
    }
  }

  async function resume(
    order: Order,
    known: Sale,
    { delivery, isProven }: { delivery: Delivery<Order, Value>; isProven: boolean },
  ): Promise<Sold<Value>> {
    const isOpen = known.state === 'claimed' || known.state === 'released'
    const { workMs, note, ...claim } = isOpen
      ? await standingOf(deps, known, await delivery.standing(known, order), isProven)
      : { workMs: 0, details: known.details, note: null, promised: false, balance: null }
    const payFirst = workMs === 0
    const taken = await journal.take({ id: known.id, ...claim }, processing.until(), note)
    if (taken === null) throw delivery.errors.busy(known)
    return await processing.processSale(order, taken, payFirst)
  }

  const { processSale, settle } = processing
  const unsigned = createUnsignedSelling(deps, product, { processing, replay })
  return { buy, ...unsigned, judge, begin, replay, boughtBy, processSale, settle }
}

function saleOf(
  { terms, digest, request, payer, identifier, paymentMethod }: Omit<Judged, 'balance'>,
  { id, now: createdAt, token }: { id: string; now: Date; token: string },
): Omit<NewSale, 'product' | 'leaseUntil'> {
  const { subject, userId, environment, amount, network, recipient, requirements, inputHash, details } = terms
  const { resource } = requirements.v1
  const waits = terms.escrow
  const escrow = waits === undefined ? null : { ...waits, authorizedTx: null, end: null, voidedTx: null }
  const sold = { subject, userId, environment, amount, network, recipient, resource, inputHash, details, escrow }
  const signed = { payer, digest, request, identifier, simulated: false, tokenHash: tokenHash(token) }
  return { ...sold, ...signed, ...paymentMethod, id, createdAt }
}

function assertOwed(
  sale: Sale,
  { owedMs, errors }: Pick<Delivery<never, never>, 'owedMs' | 'errors'>,
  now: Date,
): void {
  if (sale.state === 'failed') throw paymentRefused(sale.reason, sale)
  if (!wasPaid(sale)) return
  // A failed run of an asset goes back by itself.
  if (sale.state === 'refunded' || isGoingBack(sale) || sale.result?.status === 'failed') throw paymentRefunded(sale)
  if (sale.handover === 'expired') throw errors.expired(sale)
  if (sale.handover !== 'none') throw errors.given(sale)
  if (owedMs !== null && owedUntil(sale, owedMs, now) < now) throw errors.expired(sale)
}

/** Throws what also says that the payment arrived, where it did. */
async function enterAgain<Order extends PurchaseRequest, Value>(
  product: Pick<Product<Order, Value>, 'enter'>,
  order: Order,
  { known, delivery }: { known: Sale; delivery: Pick<Delivery<Order, Value>, 'errors'> },
) {
  try {
    return await product.enter?.(order)
  } catch (error) {
    throw known.state === 'paid' ? delivery.errors.failed(error, known, true) : error
  }
}

/**
 * The authorization as it stands now: its payer may have become a wallet with code, or have used the nonce, and the product
 * may be offered at another price. What was set aside without one is still there.
 */
async function standingOf(
  { methods, clock }: SellingDeps,
  known: Sale,
  { workMs: usualMs, promised = false, details, note, ...offer }: Standing,
  isProven: boolean,
): Promise<Pick<Standing, 'workMs' | 'details' | 'note'> & Pick<Claim, 'promised' | 'balance'>> {
  const isOffered = isAsOffered(known, offer)
  const method = methods.of(known)
  if (!method.signed) {
    if (!isOffered) throw paymentRefused(OTHER_PRICE, known)
    return { workMs: usualMs, details, note, promised, balance: null }
  }
  if (known.request === null) throw new Error('a signed sale has no authorization')
  const { refusal, payerHasCode: hasCode = false, balance = null } = await method.verify(known)
  const payerHasCode = hasCode && !promised
  // Another party has submitted it, and it still pays for this sale; but its signature no longer proves the buyer. Or
  // its payer has cancelled it: the chain says which, before any work.
  if (isUsed(refusal) && !isProven) throw paymentSubmitted()
  if (refusal !== null && !isUsed(refusal)) throw paymentRefused(refusal, known)
  // Nothing was owed for a released one, so a payer who moves its money alone buys nothing at an earlier price.
  const isOwed = isUsed(refusal) && known.state === 'claimed'
  if (!isOffered && !isOwed) throw paymentRefused(refusal ?? OTHER_PRICE, known)
  const workMs = payerHasCode || isUsed(refusal) ? 0 : usualMs
  assertOutlasts(readRequest(known.request).authorization, workMs, clock.now())
  // Where the money comes first, nobody works on a promise.
  return { workMs, details, note, promised: promised && workMs > 0, balance }
}

/** An authorization that ends before the work does could be taken back while the work is done. */
function assertOutlasts(authorization: Presented['authorization'], workMs: number, now: Date): void {
  if (workMs === 0 || authorization === null) return
  if (!outlasts(authorization, workMs, now)) throw lapsesTooSoon(workMs)
}

export type Selling<Order extends PurchaseRequest, Value> = ReturnType<typeof createSelling<Order, Value>>

import type { Hex } from '../../chain/model.ts'
import type { Presented, RequestBody } from '../../x402/model.ts'
import { readRequest, requestOf } from '../../x402/payload.ts'
import { outlasts, requirementsOf } from '../../x402/requirements.ts'
import { USED } from '../../x402/reasons.ts'
import { authorizationUsed, lapsesTooSoon, paymentRefused, paymentSubmitted } from '../errors.ts'
import { claimedSale, NONCE, type NewSale, type Sale } from '../model.ts'
import { isSubmitted, nextResume } from '../rules.ts'
import { createProcessing } from './process.ts'
import type { PurchaseRequest, Delivery, Product, SellingDeps, Sold, Standing, Terms } from './deps.ts'
import { assertBuyer, tokenHash } from './proof.ts'

/** An authorization that is good, before anything was made of it. */
export interface Judged {
  digest: Hex
  request: RequestBody
  payer: Sale['payer']
  terms: Terms
}

/** A sale that there is already. `proven`: by its token or a fresh signature, which a chain does not show. */
export interface Known {
  known: Sale
  proven: boolean
}

/**
 * From an authorization to an answer, for every product. What is refused before the claim leaves no trace. The
 * claim and the sale are one transaction; from then on every state has an owner, a lease and a sweeper.
 */
export function createSelling<Order extends PurchaseRequest, Value>(deps: SellingDeps, product: Product<Order, Value>) {
  const { journal, method, tokens, clock, failpoints } = deps
  const processing = createProcessing(deps, product)

  async function buy(order: Order): Promise<Sold<Value>> {
    if (order.payment !== null) return await replay(order, await proven(order, order.payment))
    const judged = await judge(order)
    return 'known' in judged ? await replay(order, judged) : await begin(order, judged)
  }

  /** What is to be known of an authorization before anything is made of it. */
  async function judge(order: Order): Promise<Judged | Known> {
    const { presented } = order
    if (presented === null) throw new Error('a purchase has neither a payment nor an earlier sale')
    const digest = method.digestOf(presented)
    const known = await boughtBy(order, digest)
    if (known !== null) return known
    const terms = product.terms({ ...order, presented })
    const request = requestOf(presented, terms.requirements)
    const { refusal, payer, payerHasCode = false } = await method.verify(request)
    if (refusal !== null || digest === null || payer === null) {
      // Its own twin may just have been settled.
      const twin = await boughtBy(order, digest)
      if (twin !== null) return twin
      const reason = refusal ?? 'unsupported_payload_type'
      await product.refused?.({ ...order, presented }, terms, { reason, digest })
      throw paymentRefused(reason)
    }
    // A wallet with code may take its word back while the work is done: its money moves before.
    const workMs = payerHasCode ? 0 : terms.workMs
    assertOutlasts(presented, workMs)
    return { digest, request, payer: payer.toLowerCase() as Sale['payer'], terms: { ...terms, workMs } }
  }

  async function begin(order: Order, judged: Judged): Promise<Sold<Value>> {
    const leave = await product.enter?.(order)
    try {
      return await claim(order, judged)
    } finally {
      leave?.()
    }
  }

  async function claim(order: Order, { digest, request, payer, terms }: Judged): Promise<Sold<Value>> {
    const now = clock.now()
    const { subject, userId, environment, amount, network, recipient, inputHash, details, workMs, note } = terms
    const id = product.idOf(order.operation)
    const sale: NewSale = {
      subject,
      userId,
      environment,
      amount,
      network,
      recipient,
      inputHash,
      details,
      id,
      product: product.name,
      payer,
      simulated: false,
      digest,
      request,
      // The token opens what was paid for: the buyer's own choice, else the one made here.
      tokenHash: tokenHash(order.token ?? tokens.of(id)),
      leaseUntil: product.delivery === null ? null : processing.until(),
      createdAt: now,
    }
    const bought = await journal.begin(sale, {
      resumeAt: product.delivery === null ? nextResume(now, now) : null,
      note,
    })
    if (bought !== sale.id) {
      const twin = await journal.findById(bought)
      if (twin === null) throw authorizationUsed()
      return await replay(order, asBought(order, twin))
    }
    await failpoints.reach('sale claimed')
    return await processing.processSale(order, claimedSale(sale), workMs === 0)
  }

  /** The sale that this authorization has paid for; null where there is none. Throws unless the caller is its buyer. */
  async function boughtBy(order: Order, digest: Hex | null): Promise<Known | null> {
    const known = digest === null ? null : await journal.find(digest)
    return known === null ? null : asBought(order, known)
  }

  function asBought({ presented, token }: Order, known: Sale): Known {
    const isTokens = tokens.matches(known.id, known.tokenHash, token)
    const signature = known.request === null ? null : readRequest(known.request).authorization?.signature
    assertBuyer(
      { signature: signature ?? '', submitted: isSubmitted(known) },
      { signature: presented?.authorization?.signature ?? null, token: isTokens },
    )
    return { known, proven: isTokens }
  }

  /** A sale that is named by its buyer: with the token, or with a signature that no chain has seen. */
  async function proven(order: Order, name: string): Promise<Known> {
    const { presented, token } = order
    const known = await named(presented, name)
    if (known?.product !== product.name || !product.isHere(known, order)) {
      throw product.badProof('must name a payment that was made here')
    }
    if (tokens.matches(known.id, known.tokenHash, token)) return { known, proven: true }
    if (presented === null) {
      throw product.badProof("needs the payment's X-Payment-Token, or a fresh signature of its payer")
    }
    const digest = method.digestOf(presented)
    if (digest === null || digest === known.digest) throw product.badProof('needs a fresh signature')
    const { refusal, payer } = await method.verify(requestOf(presented, requirementsFor(known)))
    if (payer?.toLowerCase() !== known.payer) throw product.badProof('needs a signature of the same payer')
    if (refusal !== null) throw paymentRefused(refusal)
    if (!(await journal.prove(digest, known.id))) throw authorizationUsed()
    return { known, proven: true }
  }

  /** Who lost the answer knows the nonce of what they signed, and not the sale's id. */
  async function named(presented: Presented | null, name: string): Promise<Sale | null> {
    if (product.isId(name)) return await journal.findById(name)
    const { network = null, authorization = null } = presented ?? {}
    if (network === null || authorization === null || !NONCE.test(name)) return null
    const digest = await method.digestBy(network.name, authorization.from, name as Hex)
    return digest === null ? null : await journal.find(digest)
  }

  /** The same sale for the same request goes on; one that has been used up does not. */
  async function replay(order: Order, { known, proven: isProven }: Known): Promise<Sold<Value>> {
    product.assertSame(known, order)
    const now = clock.now()
    const { delivery } = product
    if (delivery === null) return await processing.processSale(order, known, true)
    if (known.state === 'failed') throw paymentRefused(known.reason ?? UNKNOWN, known)
    if (known.state === 'paid') assertOwed(known, delivery, now)
    const isBusy = known.leaseUntil !== null && known.leaseUntil > now
    // An answer that is there needs no work.
    const isMade = isSubmitted(known) && (await journal.answerOf(known.id)) !== null
    if (isBusy) {
      if (delivery.joins && isMade && known.state === 'settling') return await processing.join(order, known, delivery)
      throw delivery.errors.busy(known)
    }
    const leave = isMade ? undefined : await product.enter?.(order)
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
    const { workMs, details, note }: Standing = isOpen
      ? await standingOf(known, await delivery.standing(known, order), isProven)
      : { workMs: 0, details: known.details, note: null }
    const payFirst = workMs === 0
    const taken = await journal.take({ id: known.id, details }, processing.until(), note)
    if (taken === null) throw delivery.errors.busy(known)
    return await processing.processSale(order, taken, payFirst)
  }

  function assertOwed(sale: Sale, { owedMs, errors }: Delivery<Order, Value>, now: Date): void {
    if (sale.handover === 'expired') throw errors.expired(sale)
    if (sale.handover !== 'none') throw errors.given(sale)
    if (owedMs !== null && (sale.endedAt ?? now).getTime() + owedMs < now.getTime()) throw errors.expired(sale)
  }

  /** The authorization as it stands now: its payer may have become a wallet with code, or have used the nonce. */
  async function standingOf(known: Sale, standing: Standing, isProven: boolean): Promise<Standing> {
    if (known.request === null) throw new Error('a simulated sale is never released')
    const { refusal, payerHasCode = false } = await method.verify(known.request)
    // Another party has submitted it, and it still pays for this sale; but its signature no longer proves the buyer. Or
    // its payer has cancelled it: the chain says which, before any work.
    if (refusal === USED && !isProven) throw paymentSubmitted()
    if (refusal !== null && refusal !== USED) throw paymentRefused(refusal, known)
    const workMs = payerHasCode || refusal === USED ? 0 : standing.workMs
    const { authorization } = readRequest(known.request)
    if (authorization !== null && workMs > 0 && !outlasts(authorization, workMs, clock.now()))
      throw lapsesTooSoon(workMs)
    return { ...standing, workMs }
  }

  function assertOutlasts({ authorization }: Presented, workMs: number): void {
    if (workMs === 0 || authorization === null) return
    if (!outlasts(authorization, workMs, clock.now())) throw lapsesTooSoon(workMs)
  }

  return { buy, judge, begin, replay, boughtBy, processSale: processing.processSale, settle: processing.settle }
}

/** A fresh signature proves who its buyer is when it would buy the same thing for the same price again. */
function requirementsFor({ amount, network, recipient }: Sale) {
  if (recipient === null) throw new Error('a simulated sale has no signature')
  return requirementsOf({ amount, network, recipient }, { url: '', description: '', mimeType: '' }, {})
}

export type Selling<Order extends PurchaseRequest, Value> = ReturnType<typeof createSelling<Order, Value>>

const UNKNOWN = 'invalid_exact_evm_transaction_failed'

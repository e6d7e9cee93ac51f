import type { Network } from '../../chain/networks.ts'
import type { Page, Spender } from '../../budgets/model.ts'
import { ownerOf, type Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { isLoopback } from '../../kit/http.ts'
import { deriveId, newId, type Id } from '../../kit/ids.ts'
import type { Owner } from '../../kit/owner.ts'
import type { OutboundResponse } from '../../outbound/model.ts'
import { payoutsPausedAfterHold } from '../../outflow/errors.ts'
import type { Announcement } from '../../queue/model.ts'
import { noFitOffer, notSignedYet, paymentMissing, priceTooHigh } from '../errors.ts'
import type { PaidRequest, Payment, PaymentOrder, PaymentResult, SellerResponse } from '../model.ts'
import type { Seller } from '../ports.ts'
import { choose, networkFor, spenderOf } from '../rules.ts'
import { readOffers, paymentHeader, readReceipt } from '../../x402/offers.ts'
import type { Deferral } from './deferred.ts'
import type { OutgoingPaymentDeps } from './deps.ts'
import { reload } from './end.ts'
import type { Reconciling } from './reconcile.ts'
import type { Reservation } from './reserve.ts'
import type { Signing } from './sign.ts'

/**
 * Pays an address that asks for money by x402 or MPP: asks it, reserves its price, signs one authorization for exactly that
 * and asks again with it. Nothing else is ever signed for this call, however the seller answers.
 */
export function createPay(deps: PayDeps) {
  const { store, seller, budgets, outflow, clock, reservation, signing, deferral, reconciling, failpoints } = deps
  const { addresses, sellerTimeoutMs: ms } = deps
  const limits = { bodyBytes: BODY_BYTES, headersMs: ms, idleMs: ms, totalMs: ms }

  async function pay(order: PaymentOrder, { mayHaveBegun, onApproved }: PayOptions): Promise<PaymentResult> {
    const { owner, request, operation } = order
    const id = deriveId('pay', operation)
    const before = mayHaveBegun ? await store.find(owner, id) : null
    if (before !== null) return await resume(before, request)
    await outflow.assertOpen()
    seller.checkHeaders(request.headers)
    await seller.checkAddress(request.url)
    const spender = spenderOf(order, onApproved)
    // Before anything is sent: an address that may not be paid is not called either, and each call counts, however it ends.
    if (spender !== null) await budgets.countFree({ id, owner, spender: { ...spender, isUnpriced: true } })
    const first = await seller.send({ ...toOutbound(request), limits, redirects: 'pass' })
    if (first.status !== 402) {
      if (spender !== null) await recordFree(deps, owner, spender)
      return { payment: null, response: toResponse(first) }
    }
    const network = networkFor(owner)
    const payer = await reservation.payerFor(owner, network)
    const { maxAmount } = request
    const terms = {
      ...carriageOf(request, network, seller),
      network,
      payer: payer.address,
      maxAmount,
      now: clock.now(),
    }
    const choice = choose(readOffers(first), terms)
    if ('priceTooHigh' in choice) throw priceTooHigh(choice.priceTooHigh, maxAmount)
    if ('unfit' in choice) throw noFitOffer(choice.unfit)
    // Before its address meets anything else of ours; the reservation asks again.
    outflow.assertAllowed(choice.offer.payTo)
    const counted = spender === null ? null : { ...spender, isCounted: true }
    const reserved = await reservation.reserve(order, { id, network, payer, ...choice }, counted)
    await failpoints.reach('outgoing payment reserved')
    return await resume(reserved, request)
  }

  /** From wherever it stands; the same authorization however often. */
  async function resume(payment: Payment, request: PaidRequest): Promise<PaymentResult> {
    if (payment.state === 'settled' || payment.state === 'returned') return { payment, response: null }
    const signed = payment.signature === null ? await named(payment, signing.signed(payment)) : payment
    if (signed.state === 'returned') return { payment: signed, response: null }
    const { id, signature } = signed
    if (signature === null) throw withPayment(notSignedYet(), signed)
    // An authorization that no seller has seen stays here; one that was sent is not sent again.
    if (await outflow.isPaused()) throw withPayment(payoutsPausedAfterHold(), signed)
    // Written before it leaves: from here on only the chain gives the money back.
    const lookAt = new Date(clock.now().getTime() + deps.sellerTimeoutMs)
    if (!(await store.send(id, lookAt))) return await resume(await reload(store, signed), request)
    await failpoints.reach('outgoing payment sent')
    const outbound = toOutbound(request)
    const paid = paymentHeader({ ...signed, asked: signed.offer, signature }, deps.checksummed(signed.payer))
    const headers = { ...outbound.headers, ...paid }
    const answer = await named(signed, seller.send({ ...outbound, headers, limits, redirects: 'pass' }))
    await store.answered(id, answer.status, readReceipt(answer.headers))
    await failpoints.reach('outgoing payment answered')
    // Most sellers settle before they answer; the sweeper finds out about the others.
    await reconciling.reconcile({ ...signed, state: 'sent' }).catch(() => undefined)
    return { payment: await reload(store, signed), response: toResponse(answer) }
  }

  async function named<T>(payment: Payment, work: Promise<T>): Promise<T> {
    return await work.catch((error: unknown) => {
      throw error instanceof DomainError ? withPayment(error, payment) : error
    })
  }

  /** A failure after the reservation says where the money is. */
  function withPayment(error: DomainError, { id }: Payment): DomainError {
    const fields = { ...error.fields, paymentId: id, statusUrl: `${addresses.api}/pay/${id}` }
    return new DomainError(
      error.kind === 'invalid' ? 'upstream' : error.kind,
      error.code,
      error.message,
      fields,
    ).causedBy(error)
  }

  return {
    /** `keyed`: the same operation may have begun before. `background`: once a person approves, it goes on by itself. */
    pay(caller: Caller, request: PaidRequest, operation: Id<'op'>, options: { keyed: boolean; background: boolean }) {
      const order = { owner: ownerOf(caller), agentId: caller.agentId, request, operation }
      const onApproved = options.background ? deferral.announcement(order) : null
      return pay(order, { mayHaveBegun: options.keyed, onApproved })
    },

    /** A call that was approved while no caller waited for it. May be announced twice. */
    async payApproved(payload: Readonly<Record<string, unknown>>): Promise<void> {
      const order = deferral.read(payload)
      const { operation } = order
      try {
        if ((await deferral.responseOf(deriveId('pay', operation))) !== null) return
        const { payment, response } = await pay(order, { mayHaveBegun: true, onApproved: null })
        if (payment !== null && response !== null) await deferral.saveResponse(payment.id, response)
      } catch (error) {
        if (!(error instanceof DomainError) || error.kind === 'unavailable' || error.kind === 'failed') throw error
        // In the next minute there is room: asking the seller again is another call.
        if (error.fields['limit'] === 'callsPerMinute' && error.fields['allowed'] !== 0) throw error
        // It was refused as it would have been with a caller waiting: nothing to try again.
        deps.log.info({ code: error.code, operation }, 'an approved call was not paid')
      }
    },

    async find(caller: Caller, id: string): Promise<PaymentResult & { payment: Payment }> {
      const found = await store.find(ownerOf(caller), id)
      if (found === null || (caller.agentId !== null && found.agentId !== caller.agentId)) throw paymentMissing()
      const response = await deferral.responseOf(id)
      // A response that came meanwhile was saved after the state that it led to.
      return { payment: response === null ? found : await reload(store, found), response }
    },

    list: (caller: Caller, page: Page) => store.list(ownerOf(caller), caller.agentId, page),
  }
}

interface PayDeps extends OutgoingPaymentDeps {
  reservation: Reservation
  signing: Signing
  deferral: Deferral
  reconciling: Reconciling
}

interface PayOptions {
  mayHaveBegun: boolean
  /** For a call that no caller waits for. */
  onApproved: Announcement | null
}

/** A call that cost nothing, which was judged and counted before it was sent. Its answer is not lost because it could not be recorded. */
async function recordFree({ budgets, clock, log }: PayDeps, owner: Owner, spender: Spender): Promise<void> {
  const made = { ...spender, isFree: true, isCounted: true }
  await budgets
    .countFree({ id: newId('op', clock.now()), owner, spender: made })
    .catch((error: unknown) => log.warn({ err: error, agentId: spender.agentId }, 'A free call could not be recorded.'))
}

/** How a payment may travel with this request. */
function carriageOf({ url, headers }: PaidRequest, { live }: Network, seller: Pick<Seller, 'checkHeaders'>) {
  const { protocol, hostname } = new URL(url)
  const taken = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  return {
    isExposed: live && protocol === 'http:' && !isLoopback(hostname),
    mayAdd(header: string): boolean {
      try {
        seller.checkHeaders({ [header]: '' })
      } catch {
        return false
      }
      return !taken.has(header)
    },
  }
}

function toOutbound({ url, method, headers, body }: PaidRequest) {
  return { url, method, headers, ...(body === null ? {} : { body }) }
}

/** What a program can read stays readable. */
function toResponse({ status, headers, body }: OutboundResponse): SellerResponse {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    return { status, headers, body: text, encoding: 'utf8' }
  } catch {
    return { status, headers, body: body.toString('base64'), encoding: 'base64' }
  }
}

const BODY_BYTES = 1_048_576

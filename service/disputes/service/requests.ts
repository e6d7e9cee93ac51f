import { networkOf } from '../../chain/networks.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Sale } from '../../sales/model.ts'
import { requestConflict, requestMissing, unproven } from '../errors.ts'
import type { Denial, Dispute, RefundAnswer, RefundClaim } from '../model.ts'
import { answerOf, assertFresh, denialOf, hashOfRequest, refundText, returnedOf } from '../rules.ts'
import type { DisputeDeps } from './deps.ts'
import type { Deciding } from './deciding.ts'
import type { Reporting } from './reporting.ts'

/** A process makes the answer, or hands it over. */
function isBusy({ leaseUntil }: Pick<Sale, 'leaseUntil'>, now: Date): boolean {
  return leaseUntil !== null && leaseUntil > now
}

/** Requests of programs by the x402 extension `refund`. Each is a dispute that the policy answers, or the seller. */
export function createRequests(deps: DisputeDeps & { deciding: Deciding; reporting: Reporting }) {
  const { store, sales, refunds, tokens, signatures, clock, log, deciding, reporting, addresses } = deps

  /** The one sale that is meant, if the caller paid for it. */
  async function find(asked: RefundClaim): Promise<Sale | Denial> {
    const network = networkOf(asked.network)
    const paid = network === null ? [] : await sales.byTransaction(asked.txHash, network.name)
    const { paymentId, token, proof } = asked
    const named = paymentId === null ? paid : paid.filter((sale) => [sale.id, sale.identifier].includes(paymentId))
    if (named.length === 0) return 'unknown_payment'
    if (token !== null) return named.find((sale) => tokens.matches(sale.id, sale.tokenHash, token)) ?? 'not_payer'
    if (proof === null) throw unproven()
    assertFresh(proof, clock.now())
    const text = refundText(asked, { origin: endpoint, expiresAt: proof.expiresAt })
    const signer = await signatures.recover(text, proof.signature)
    const [own, ...others] = named.filter(({ payer }) => payer.toLowerCase() === signer)
    // One transaction can pay for several things of one payer. Then the request must name the payment.
    if (own !== undefined) return others.length === 0 ? own : 'unknown_payment'
    const [only, ...more] = named
    if (only === undefined || more.length > 0) return 'not_payer'
    return (await reporting.isSignedBy(only, text, proof)) ? only : 'not_payer'
  }

  /** The dispute of this request, new or known; a denial where there is none. */
  async function open(asked: RefundClaim, found: Sale): Promise<Dispute | Denial> {
    const hash = hashOfRequest(asked)
    const isOrderServed = await deps.isOrderServed(found.id)
    return await deciding.locked(found.id, async (inside, sale) => {
      const same = await store.byRequest(asked.key, sale.payer, inside)
      if (same !== null) {
        if (same.saleId !== sale.id || same.requestHash?.equals(hash) !== true) throw requestConflict()
        return same
      }
      const owner = { userId: sale.userId ?? '', environment: sale.environment }
      if (!isRefundable(sale)) return 'policy_denied'
      const [policy, before] = [await store.policy(owner, inside), await store.ofSale(sale.id, inside)]
      const returned = returnedOf(await refunds.ofSale(sale.id, inside))
      const denial = denialOf(asked, { sale, returned, policy, now: clock.now(), before })
      if (denial !== null) return denial
      if (before !== null) return before
      refunds.assertRefundable(sale, asked.amount)
      const { amount, reason, detail: text, key } = asked
      const isServed = isOrderServed || isBusy(sale, clock.now()) || (await sales.hasAnswer(inside, sale.id))
      const automatic = await reporting.automatic(inside, { amount, reason, sale, isServed }, policy)
      const report = { reason, text, amount, openedBy: 'agent', request: { key, hash } } as const
      return await reporting.add(inside, sale, { report, policy, automatic })
    })
  }

  function isRefundable(sale: Sale): boolean {
    // What was refunded whole has an answer of its own.
    if (sale.state === 'refunded') return true
    try {
      refunds.assertRefundable(sale)
      return true
    } catch (error) {
      if (error instanceof DomainError) return false
      throw error
    }
  }

  async function answer(dispute: Dispute): Promise<RefundAnswer> {
    return answerOf(dispute, dispute.state === 'refunded' ? await refunds.ofSale(dispute.saleId) : [])
  }

  const endpoint = `${addresses.receipts}/refunds`

  return {
    endpoint,

    async ask(asked: RefundClaim): Promise<RefundAnswer> {
      const denied = (denialReason: Denial): RefundAnswer => ({ status: 'denied', amount: asked.amount, denialReason })
      const found = await find(asked)
      if (typeof found === 'string') return denied(found)
      const opened = await open(asked, found)
      if (typeof opened === 'string') return denied(opened)
      if (opened.state !== 'refunding') return await answer(opened)
      // The first request and each repetition ask for the same refund.
      await deciding.request(opened).catch((error: unknown) => {
        if (!(error instanceof DomainError)) throw error
        log.warn({ dispute: opened.id, code: error.code }, 'an automatic refund was refused; the seller is asked')
      })
      return await answer((await store.find(opened.id)) ?? opened)
    },

    /** What became of a request, for whoever knows its key. */
    async look(key: string): Promise<RefundAnswer> {
      const dispute = await store.byRequest(key, null)
      if (dispute === null) throw requestMissing()
      return await answer(dispute)
    },
  }
}

import { deriveId, newId } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Sale } from '../../sales/model.ts'
import { paymentUnknown } from '../errors.ts'
import type { Dispute, RefundPolicy, Report, SignedProof } from '../model.ts'
import {
  assertFresh,
  assertReportable,
  DAY_MS,
  eventOf,
  isAutomatic,
  refundOf,
  reportableUntil,
  reportText,
  type AutomaticRefund,
} from '../rules.ts'
import { OPENED, type DisputeDeps } from './deps.ts'
import { LEASE_MS, type Deciding } from './deciding.ts'
import { turnOf } from '../../queue/model.ts'

/** Reports of buyers. A sale has one report, which its buyer finds again with the same proof. */
export function createReporting(deps: DisputeDeps & { deciding: Deciding }) {
  const { store, sales, refunds, tokens, signatures, clock, deciding, addresses } = deps

  /** Throws unless the proof is the buyer's. */
  async function prove(id: string, { token, signed }: Proof): Promise<Sale> {
    const sale = (await sales.findAll([id])).get(id)
    if (sale === undefined) throw paymentUnknown()
    if (tokens.matches(id, sale.tokenHash, token)) return sale
    // Nobody signed a simulated payment.
    if (signed === null || sale.simulated) throw paymentUnknown()
    const { reason, proof } = signed
    assertFresh(proof, clock.now())
    const text = reportText(sale, { reason }, { origin: addresses.receipts, expiresAt: proof.expiresAt })
    if (!(await isSignedBy(sale, text, proof))) throw paymentUnknown()
    return sale
  }

  async function isSignedBy({ payer, network }: Sale, text: string, { signature }: SignedProof): Promise<boolean> {
    if ((await signatures.recover(text, signature)) === payer.toLowerCase()) return true
    return await signatures.isSignedByCode(network, payer, { text, signature })
  }

  /** Inside the transaction that has locked the sale. */
  async function add(inside: Statements, sale: Sale, { report, policy, automatic }: NewReport): Promise<Dispute> {
    const now = clock.now()
    const id = newId('dsp', now)
    const decided = automatic === null ? UNDECIDED : decidedByPolicy(sale.id, automatic, now)
    const dispute: Dispute = {
      id,
      saleId: sale.id,
      owner: { userId: sale.userId ?? '', environment: sale.environment },
      reason: report.reason,
      text: report.text,
      amount: report.amount,
      openedBy: report.openedBy,
      payer: sale.payer,
      requestKey: report.request?.key ?? null,
      requestHash: report.request?.hash ?? null,
      unanswered: policy.unanswered,
      answerDays: policy.answerDays,
      answerBy: new Date(now.getTime() + policy.answerDays * DAY_MS),
      answer: null,
      refundFailure: null,
      createdAt: now,
      endedAt: null,
      ...decided,
    }
    await store.add(inside, dispute)
    const { data, ...rest } = eventOf({ dispute, sale, now, pay: addresses.pay })
    await deps.event(inside, { id: deriveId('evt', id), owner: dispute.owner, data, ...rest })
    await deps.announce(inside, [{ topic: OPENED, payload: { disputeId: id }, turn: turnOf(dispute.owner) }])
    deps.measures.count('dispute_opened')
    return dispute
  }

  /** The amount, where the policy refunds it without asking. */
  async function automatic(inside: Statements, asked: AutomaticRefund & { sale: Sale }, policy: RefundPolicy) {
    const { amount, sale } = asked
    const owner = { userId: sale.userId ?? '', environment: sale.environment }
    if (policy.agents !== 'automatic') return null
    const since = new Date(clock.now().getTime() - DAY_MS)
    return isAutomatic(asked, policy, await store.holdUnasked(inside, owner, sale.payer, since)) ? amount : null
  }

  return {
    isSignedBy,
    add,
    automatic,

    /** A report of a person; the same one again gives the same dispute. */
    async report(id: string, proof: Proof, report: Report): Promise<{ dispute: Dispute; isNew: boolean }> {
      const proven = await prove(id, proof)
      return await deciding.locked(proven.id, async (inside, sale) => {
        const before = await store.ofSale(sale.id, inside)
        if (before !== null) return { dispute: before, isNew: false }
        refunds.assertRefundable(sale)
        const policy = await store.policy({ userId: sale.userId ?? '', environment: sale.environment }, inside)
        assertReportable(sale, policy, clock.now())
        return { dispute: await add(inside, sale, { report, policy, automatic: null }), isNew: true }
      })
    },

    /** For the holder of the payment's token. */
    async status(
      id: string,
      token: string | null,
    ): Promise<{ dispute: Dispute | null; reportable: Reportable | null }> {
      const sale = await prove(id, { token, signed: null })
      const dispute = await store.ofSale(id)
      if (dispute !== null || sale.userId === null || sale.state !== 'paid') return { dispute, reportable: null }
      try {
        refunds.assertRefundable(sale)
      } catch {
        return { dispute, reportable: null }
      }
      const policy = await store.policy({ userId: sale.userId, environment: sale.environment })
      const until = reportableUntil(sale, policy)
      return { dispute, reportable: until > clock.now() ? { until, ...policy } : null }
    },
  }
}

/** Until when a problem can be reported, and what happens where the seller does not answer. */
export interface Reportable extends Pick<RefundPolicy, 'answerDays' | 'unanswered'> {
  until: Date
}

export type Reporting = ReturnType<typeof createReporting>

/** The payment's token, or the payer's signature of a report for this reason. */
export interface Proof {
  token: string | null
  signed: { reason: Report['reason']; proof: SignedProof } | null
}

interface NewReport {
  report: Report
  policy: RefundPolicy
  /** What the policy refunds at once. Null: the seller is asked. */
  automatic: Usdc | null
}

const UNDECIDED = {
  state: 'open',
  decidedBy: null,
  decidedAt: null,
  attempts: 0,
  refundId: null,
  refundAmount: null,
  leaseUntil: null,
} as const

function decidedByPolicy(saleId: string, amount: Usdc, now: Date) {
  return {
    state: 'refunding',
    decidedBy: 'policy',
    decidedAt: now,
    attempts: 1,
    refundId: refundOf(saleId, 1),
    refundAmount: amount,
    leaseUntil: new Date(now.getTime() + LEASE_MS),
  } as const
}

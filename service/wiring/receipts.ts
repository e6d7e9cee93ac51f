import { receiptRoutes } from '../checkouts/http/receipts.ts'
import type { Brands } from '../brands/service.ts'
import type { ReceiptRefund } from '../checkouts/model.ts'
import type { CheckoutPages, FoundReceipt, Receipt, SignedForms } from '../checkouts/ports.ts'
import type { Checkouts } from '../checkouts/service/checkouts.ts'
import { toReportOut } from '../disputes/http/bodies.ts'
import type { Disputes } from '../disputes/service/disputes.ts'
import { toWire } from '../kit/money.ts'
import type { Refunds } from '../refunds/service/refunds.ts'
import { wasPaid, type Sale } from '../sales/model.ts'
import type { SellingDeps } from '../sales/service/deps.ts'
import { paidTerms, proofOf, receiptOf } from '../sales/service/door.ts'
import type { Part } from './platform.ts'

/** Receipts of all products, at one address; a checkout's receipt also shows its delivery. */
export function openReceipts({
  checkouts,
  refunds,
  brands,
  disputes,
  selling,
  pages,
  issuers,
  address,
}: ReceiptsGiven): Part {
  const { journal, tokens } = selling

  async function find(id: string, token: string | null): Promise<FoundReceipt | null> {
    const sale = await journal.findById(id)
    if (sale === null || !tokens.matches(id, sale.tokenHash, token)) return null
    const bought = sale.product === 'checkout' ? await checkouts.receipt(id, token) : null
    const signed = signedForms(sale, selling, address)
    const refunded = wasPaid(sale) ? ((await refunds.shown([sale])).get(id) ?? []) : []
    const made = await disputes.ofSale(id)
    const dispute = made === null ? null : toReportOut(made)
    if (bought === null) {
      return {
        body: { receipt: toReceipt(sale, refunded), delivery: null, result: null, dispute, signed },
        checkout: null,
        brand: sale.userId === null ? null : await brands.shown({ userId: sale.userId, environment: sale.environment }),
      }
    }
    const { view, payment } = bought
    const receipt = { ...toReceipt(sale, refunded), name: view.checkout.product.name, status: payment.payment.status }
    return {
      body: { receipt, delivery: payment.delivery, result: payment.result, dispute, signed },
      checkout: bought,
      brand: null,
    }
  }

  return { routes: [{ surface: 'receipts', routes: receiptRoutes(find, pages, { issuers, address }) }] }
}

interface ReceiptsGiven {
  checkouts: Pick<Checkouts, 'receipt'>
  refunds: Pick<Refunds, 'shown'>
  disputes: Pick<Disputes, 'ofSale'>
  brands: Pick<Brands, 'shown'>
  selling: SellingDeps
  pages: CheckoutPages
  /** Where the keys of this service are published, by DID. */
  issuers: Readonly<Record<string, string>>
  /** The address of the receipts. */
  address: string
}

function signedForms(sale: Sale, { dialects }: SellingDeps, receipts: string): SignedForms | null {
  const { signed } = dialects
  const receipt = receiptOf(sale)
  const [eip712, jws] = [signed.eip712(receipt), signed.jws(receipt)]
  const { verifyUrl } = proofOf(receipt, sale, { dialects, receipts })
  if (eip712 === null || jws === null || verifyUrl === null) return null
  return { eip712, jws, terms: paidTerms(receipt, sale, { dialects }), verifyUrl }
}

function toReceipt(sale: Sale, refunds: readonly ReceiptRefund[]): Receipt {
  const { id, product, state, amount, network, payer, txHash, simulated: testMode, details } = sale
  const paidAt = wasPaid(sale) ? (sale.endedAt?.toISOString() ?? null) : null
  // The seller's own name for it: a gate's endpoint or a tool's slug.
  const called = details['endpoint'] ?? details['slug']
  const name = typeof called === 'string' ? called : ''
  const status = product === 'tool' ? TOOL_STATES[state] : GATE_STATES[state]
  const about = { id, product, name, status, network, payer, txHash, testMode, paidAt, refunds }
  return { ...about, amount: toWire(amount), currency: 'USDC', createdAt: sale.createdAt.toISOString() }
}

const TOOL_STATES = {
  claimed: 'claimed',
  held: 'claimed',
  released: 'failed',
  settling: 'answered',
  paid: 'paid',
  failed: 'failed',
  refunded: 'refunded',
} as const satisfies Record<Sale['state'], string>

const GATE_STATES = { ...TOOL_STATES, claimed: 'calling', held: 'calling', released: 'released', settling: 'settling' }

import { receiptRoutes } from '../checkouts/http/receipts.ts'
import type { CheckoutPages, FoundReceipt, Receipt } from '../checkouts/ports.ts'
import type { Checkouts } from '../checkouts/service.ts'
import type { PaymentTokens } from '../sales/service/proof.ts'
import { isId } from '../kit/ids.ts'
import { toWire } from '../kit/money.ts'
import { paymentOf } from '../paywall/rules/payment.ts'
import type { Paywalls } from '../paywall/service.ts'
import type { ToolPayments } from '../tools/service/pay.ts'
import type { Part } from './ground.ts'

/** Receipts of all that is sold, at one address: each seller knows its own payments. */
export function openReceipts({ checkouts, paywalls, toolPayments, tokens, pages }: Sellers): Part {
  async function ofCheckout(id: string, token: string | null): Promise<FoundReceipt | null> {
    const bought = await checkouts.receipt(id, token)
    if (bought === null) return null
    const { payment, delivery } = bought.payment
    const { name } = bought.view.checkout.product
    return { body: { receipt: { ...toReceipt(payment), product: 'checkout', name }, delivery }, checkout: bought }
  }

  async function ofGate(id: string, token: string | null): Promise<FoundReceipt | null> {
    const sale = await paywalls.saleOrNull(id)
    if (sale === null || !tokens.matches(id, sale.tokenHash, token)) return null
    const payment = paymentOf(sale)
    const { state: status, amount, endedAt, simulated: testMode } = payment
    const paidAt = status === 'paid' ? endedAt : null
    const said = {
      ...payment,
      status,
      amount: toWire(amount),
      testMode,
      createdAt: iso(payment.createdAt),
      paidAt: iso(paidAt),
    }
    return {
      body: { receipt: { ...toReceipt(said), product: 'gate', name: payment.endpoint }, delivery: null },
      checkout: null,
    }
  }

  async function ofTool(id: string, token: string | null): Promise<FoundReceipt | null> {
    const payment = isId('call', id) ? await toolPayments.findOrNull(id) : null
    if (payment === null || !tokens.matches(id, payment.tokenHash, token)) return null
    const { amount, createdAt } = payment
    const status = STATUS[payment.state]
    const paidAt = status === 'paid' ? payment.endedAt : null
    const said = {
      ...payment,
      status,
      amount: toWire(amount),
      testMode: false,
      createdAt: iso(createdAt),
      paidAt: iso(paidAt),
    }
    return {
      body: { receipt: { ...toReceipt(said), product: 'tool', name: String(payment.details['slug']) }, delivery: null },
      checkout: null,
    }
  }

  const find = async (id: string, token: string | null): Promise<FoundReceipt | null> =>
    (await ofCheckout(id, token)) ?? (await ofGate(id, token)) ?? (await ofTool(id, token))
  return { routes: [{ surface: 'receipts', routes: receiptRoutes(find, pages) }] }
}

/** As a receipt calls it. */
const STATUS = {
  claimed: 'claimed',
  held: 'claimed',
  released: 'failed',
  settling: 'answered',
  paid: 'paid',
  failed: 'failed',
  refunded: 'failed',
} as const

interface Sellers {
  checkouts: Pick<Checkouts, 'receipt'>
  paywalls: Pick<Paywalls, 'saleOrNull'>
  toolPayments: Pick<ToolPayments, 'findOrNull'>
  tokens: PaymentTokens
  pages: CheckoutPages
}

function toReceipt({
  id,
  status,
  amount,
  network,
  payer,
  txHash,
  testMode,
  createdAt,
  paidAt,
}: Omit<Receipt, 'product' | 'name' | 'currency'>) {
  return { id, status, amount, currency: 'USDC' as const, network, payer, txHash, testMode, createdAt, paidAt }
}

function iso(at: Date): string
function iso(at: Date | null): string | null
function iso(at: Date | null): string | null {
  return at?.toISOString() ?? null
}

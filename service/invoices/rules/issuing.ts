import { toDecimal, usdc, ZERO, type Usdc } from '../../kit/money.ts'
import { isTransaction, networkOf } from '../../chain/networks.ts'
import { isGoingBack, isReal, wasPaid, type Sale } from '../../sales/model.ts'
import { invoicingOff, notPaid, notReal, wentBack } from '../errors.ts'
import type { Buyer, Invoice, Invoicing, Lines } from '../model.ts'

export function assertIssuable(sale: Sale, { enabled }: Pick<Invoicing, 'enabled'>): void {
  if (!enabled) throw invoicingOff()
  if (!wasPaid(sale)) throw notPaid()
  if (!isReal(sale)) throw notReal()
  if (isGoingBack(sale)) throw wentBack()
}

export function isIssuable(sale: Sale, { enabled }: Pick<Invoicing, 'enabled'>): boolean {
  return enabled && wasPaid(sale) && isReal(sale) && !isGoingBack(sale)
}

/** `sequence`: the next number of the year. Sandboxes count on their own, and nobody takes their numbers for real ones. */
export function issue(sale: Sale, made: Making): Invoice {
  const { invoicing, buyer, sequence, now } = made
  const { prefix } = invoicing
  const year = now.getUTCFullYear()
  const before = [sale.environment === 'sandbox' ? 'TEST' : '', prefix].filter((part) => part !== '')
  return {
    saleId: sale.id,
    owner: { userId: sale.userId ?? '', environment: sale.environment },
    number: [...before, String(year), String(sequence).padStart(6, '0')].join('-'),
    year,
    sequence,
    seller: sellerOf(invoicing),
    buyer,
    lines: linesOf(sale, made.product, invoicing.taxRate),
    issuedAt: now,
  }
}

/** What of the settings is printed. */
export function sellerOf(invoicing: Invoicing): Invoice['seller'] {
  const { sellerName, sellerAddress, sellerTaxId, taxLabel, taxRate, note } = invoicing
  return { sellerName, sellerAddress, sellerTaxId, taxLabel, taxRate, note }
}

interface Making {
  invoicing: Invoicing
  buyer: Buyer
  product: string
  sequence: number
  now: Date
}

/** A sale as it is printed. One that has no lines of its own is one piece at its price. */
export function linesOf(sale: Sale, product: string, taxRate: number): Lines {
  const { amount, details, network, payer, txHash, simulated, endedAt, createdAt } = sale
  const bought = details['lines'] as Stored | undefined
  const discount = usdc(BigInt(bought?.discount ?? 0))
  return {
    product,
    quantity: bought?.quantity ?? 1,
    unit: shown(usdc(BigInt(bought?.unit ?? amount))),
    subtotal: shown(usdc(BigInt(bought?.subtotal ?? amount))),
    coupon: bought?.coupon ?? null,
    discount: discount === ZERO ? null : shown(discount),
    total: shown(amount),
    tax: taxRate === 0 ? null : shown(taxIn(amount, taxRate)),
    network,
    payer,
    txHash: isTransaction(txHash) ? txHash : null,
    paidAt: (endedAt ?? createdAt).toISOString(),
    testMode: simulated,
  }
}

/** Why a sale is only a test: no money has moved, or tokens without a value. Null for one that was paid. */
export function testOf({ testMode, network }: Pick<Lines, 'testMode' | 'network'>): 'simulated' | 'tokens' | null {
  if (testMode) return 'simulated'
  return networkOf(network)?.live === false ? 'tokens' : null
}

/** The lines that a sale of a checkout has, in micro-USDC. */
interface Stored {
  unit: string
  quantity: number
  subtotal: string
  coupon: string | null
  discount: string
}

/**
 * The tax that a price includes, rounded half up: to cents, as tax offices count, unless the price itself is finer. It
 * is printed only; no money moves by it.
 */
function taxIn(amount: Usdc, rate: number): Usdc {
  const step = amount % 10_000n === 0n ? 10_000n : 1n
  const whole = BigInt(10_000 + rate) * step
  return usdc(((2n * amount * BigInt(rate) + whole) / (2n * whole)) * step)
}

/** With two decimals at least. */
export function shown(amount: Usdc): string {
  const [whole = '', part = ''] = toDecimal(amount).split('.')
  return `${whole}.${part.padEnd(2, '0')}`
}

import type { Cell, Paper, Row } from '../../pdf/model.ts'
import type { Buyer, Invoice, Invoicing, Lines } from '../model.ts'
import { testOf } from './issuing.ts'

/** What a receipt or an invoice says. */
export interface Printed {
  /** Null on a receipt. */
  invoice: Pick<Invoice, 'number' | 'issuedAt' | 'buyer'> | null
  payment: string
  seller: Omit<Invoicing, 'enabled' | 'prefix'>
  lines: Lines
  /** What went back of it until now. Null if nothing did. */
  refunded: string | null
}

/** It never changes once it is issued, except for what went back since. */
export function paperOf(printed: Printed): Paper {
  const { invoice, payment, seller, lines, refunded } = printed
  const test = testOf(lines)
  const title = invoice === null ? `Receipt ${payment}` : `Invoice ${invoice.number}`
  const date = invoice === null ? lines.paidAt : invoice.issuedAt.toISOString()
  const facts = [
    ...(invoice === null ? [] : [['Invoice number', invoice.number] as const, ['Date of issue', day(date)] as const]),
    ['Date of payment', day(lines.paidAt)] as const,
    ['Payment number', payment] as const,
    ['Network', lines.network] as const,
    ['Paid by', lines.payer] as const,
    ...(lines.txHash === null ? [] : [['Transaction', lines.txHash] as const]),
  ]
  return {
    title,
    date,
    rows: [
      { gap: 0, rule: false, cells: [cell(invoice === null ? 'Receipt' : 'Invoice', { size: 22, bold: true })] },
      ...(test === null ? [] : [row(cell(TESTS[test], { bold: true }), 6)]),
      partiesOf(seller, invoice?.buyer ?? null),
      ...facts.map(([name, text], at) => fact(name, text, at === 0)),
      ...tableOf(lines, seller),
      ...(refunded === null ? [] : [sumRow('Refunded', `${refunded} USDC`, true)]),
      ...(seller.note === '' ? [] : [row(cell(seller.note, { linesMax: 20, quiet: true }), 28)]),
    ],
  }
}

const TESTS = {
  simulated: 'Test: no money has moved.',
  tokens: 'Test: in test tokens, which have no value.',
} as const

function partiesOf(seller: Printed['seller'], buyer: Buyer | null): Row {
  const { sellerName, sellerAddress, sellerTaxId } = seller
  const from = [sellerName, sellerAddress, sellerTaxId].filter((text) => text !== '').join('\n')
  const to =
    buyer === null
      ? ''
      : [buyer.name, buyer.address, buyer.country, buyer.taxId].filter((text) => text !== '').join('\n')
  const half = { width: 0.47, linesMax: 14 }
  return {
    gap: 24,
    rule: false,
    cells: [cell(from, half), ...(to === '' ? [] : [cell(`For\n${to}`, { ...half, at: 0.53, width: 0.47 })])],
  }
}

function fact(name: string, text: string, first: boolean): Row {
  const cells = [cell(name, { quiet: true, width: 0.25 }), cell(text, { at: 0.27, width: 0.73, linesMax: 2 })]
  return { gap: first ? 24 : 3, rule: false, cells }
}

function tableOf(lines: Lines, { taxLabel, taxRate }: Printed['seller']): Row[] {
  const { product, quantity, unit, subtotal, coupon, discount, total, tax } = lines
  const columns = (texts: readonly [string, string, string, string], style: Partial<Cell>): Cell[] => [
    cell(texts[0], { ...style, width: 0.5, linesMax: 6 }),
    cell(texts[1], { ...style, at: 0.5, width: 0.12, align: 'right' }),
    cell(texts[2], { ...style, at: 0.62, width: 0.19, align: 'right' }),
    cell(texts[3], { ...style, at: 0.81, width: 0.19, align: 'right' }),
  ]
  return [
    { gap: 28, rule: false, cells: columns(['Product', 'Quantity', 'Price each', 'Amount'], { quiet: true }) },
    { gap: 10, rule: true, cells: columns([product, String(quantity), unit, subtotal], {}) },
    ...(discount === null
      ? []
      : [sumRow(coupon === null ? 'Discount' : `Discount, code ${coupon}`, `-${discount} USDC`, false)]),
    { ...sumRow('Total', `${total} USDC`, true), gap: 14, rule: true },
    ...(tax === null ? [] : [sumRow(`Includes ${taxLabel} ${percentOf(taxRate)} %`, `${tax} USDC`, false)]),
  ]
}

function sumRow(name: string, text: string, bold: boolean): Row {
  const cells = [
    cell(name, { bold, at: 0.3, width: 0.45, align: 'right' }),
    cell(text, { bold, at: 0.76, width: 0.24, align: 'right' }),
  ]
  return { gap: 6, rule: false, cells }
}

function row(only: Cell, gap: number): Row {
  return { gap, rule: false, cells: [only] }
}

function cell(text: string, style: Partial<Cell>): Cell {
  return { at: 0, width: 1, align: 'left', size: 10, bold: false, quiet: false, linesMax: 1, ...style, text }
}

function percentOf(rate: number): string {
  return String(rate / 100)
}

function day(moment: string): string {
  return moment.slice(0, 10)
}

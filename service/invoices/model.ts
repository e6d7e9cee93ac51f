import type { Owner } from '../kit/owner.ts'

/** What an account writes on its invoices. */
export interface Invoicing {
  enabled: boolean
  sellerName: string
  sellerAddress: string
  sellerTaxId: string
  taxLabel: string
  /** In hundredths of a percent: 1900 is 19 %. Prices include it; 0 prints no tax. */
  taxRate: number
  /** Comes before the year in every number. */
  prefix: string
  note: string
}

export const NO_INVOICING: Invoicing = {
  enabled: false,
  sellerName: '',
  sellerAddress: '',
  sellerTaxId: '',
  taxLabel: 'VAT',
  taxRate: 0,
  prefix: '',
  note: '',
}

/** For whom an invoice is, as the buyer says. */
export interface Buyer {
  name: string
  address: string
  /** Two letters. */
  country: string
  taxId: string
}

/** What was sold, as printed: amounts are decimals of USDC. */
export interface Lines {
  product: string
  quantity: number
  unit: string
  subtotal: string
  coupon: string | null
  discount: string | null
  total: string
  /** Contained in the total. Null where there is none. */
  tax: string | null
  network: string
  payer: string
  txHash: string | null
  paidAt: string
  testMode: boolean
}

/** An invoice as it was issued. It never changes. */
export interface Invoice {
  saleId: string
  owner: Owner
  number: string
  year: number
  sequence: number
  seller: Omit<Invoicing, 'enabled' | 'prefix'>
  buyer: Buyer
  lines: Lines
  issuedAt: Date
}

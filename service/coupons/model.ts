import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'

/** A code that makes purchases cheaper. */
export interface Coupon extends CouponTerms {
  id: Id<'cpn'>
  owner: Owner
  /** Purchases with it that were not unpaid in the end. */
  used: number
  /** The same for simulated ones, and in production for those with test money. */
  tested: number
  archivedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** What its owner decides. */
export interface CouponTerms extends Discount, CouponLimits {}

/** What a code takes off. It stays as it was made. */
export interface Discount {
  /** In capital letters. */
  code: string
  /** Either this, in whole percents, or an amount. */
  percent: number | null
  amount: Usdc | null
}

export interface CouponLimits {
  /** How many purchases it is for. Null: any number. */
  max: number | null
  /** How many of one wallet. */
  perCustomer: number | null
  /** No purchase begins after it. */
  until: Date | null
  /** The only checkouts that take it. Null: all of the account's. */
  checkouts: readonly string[] | null
}

/** A purchase that uses a code. */
export interface CouponUse {
  couponId: string
  saleId: string
  payer: string
  /** Simulated, or paid with test money: it uses up nothing that is worth money. */
  test: boolean
  at: Date
}

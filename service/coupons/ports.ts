import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Coupon, CouponLimits, CouponUse } from './model.ts'

export interface CouponStore {
  /** The coupon of this id, also where it was there already. Null where its code is another one's. */
  add(coupon: Coupon): Promise<Coupon | null>
  findOwn(owner: Owner, id: string): Promise<Coupon | null>
  /** The one with this code that is not archived. */
  findByCode(owner: Owner, code: string): Promise<Coupon | null>
  list(
    owner: Owner,
    archived: boolean,
    page: { limit: number; offset: number },
  ): Promise<{ coupons: readonly Coupon[]; total: number }>
  /** What is absent stays. Null where it is archived, or where more purchases have used it than it would be for. */
  change(owner: Owner, id: string, change: Partial<CouponLimits>, now: Date): Promise<Coupon | null>
  archive(owner: Owner, id: string, now: Date): Promise<Coupon | null>

  /** False where this sale has its use already. */
  addUse(inside: Statements, use: CouponUse): Promise<boolean>
  /** Counts one more if its limits allow it, and locks it until the transaction ends. */
  countUse(inside: Statements, use: CouponUse): Promise<Coupon | null>
  find(inside: Statements, id: string): Promise<Coupon | null>
  /** Of one wallet, without those that are a test. */
  usesOf(inside: Statements, couponId: string, payer: string): Promise<number>
  /** Gives the sale's use back, once. */
  dropUse(inside: Statements, saleId: string): Promise<void>
}

/** Bounds guesses of codes from one place. */
export interface Guesses {
  /** Looks at a guess; only a right one does not count. Throws while there were too many from there. */
  guess<T>(place: string, look: () => Promise<T>, isRight: (found: T) => boolean): Promise<T>
}

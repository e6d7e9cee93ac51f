import { ownerOf, type Caller } from '../kit/caller.ts'
import type { Clock } from '../kit/clock.ts'
import { deriveId, type Id } from '../kit/ids.ts'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import {
  codeTaken,
  couponArchived,
  couponInvalid,
  couponMissing,
  couponSpent,
  couponUsedUp,
  maxBelowUses,
} from './errors.ts'
import type { Coupon, CouponLimits, CouponTerms, CouponUse } from './model.ts'
import type { CouponStore, Guesses } from './ports.ts'

/** The codes of an account. */
export function createCoupons({ store, guesses, clock }: { store: CouponStore; guesses: Guesses; clock: Clock }) {
  async function get(owner: Owner, id: string): Promise<Coupon> {
    const found = await store.findOwn(owner, id)
    if (found === null) throw couponMissing()
    return found
  }

  return {
    async create(caller: Caller, terms: CouponTerms, operation: Id<'op'>): Promise<Coupon> {
      const now = clock.now()
      const none = { used: 0, tested: 0, archivedAt: null, createdAt: now, updatedAt: now }
      const made = await store.add({ ...terms, ...none, id: deriveId('cpn', operation), owner: ownerOf(caller) })
      if (made === null) throw codeTaken(terms.code)
      return made
    },

    get: (caller: Caller, id: string) => get(ownerOf(caller), id),
    list: (caller: Caller, archived: boolean, page: { limit: number; offset: number }) =>
      store.list(ownerOf(caller), archived, page),

    /** What is absent stays. */
    async change(caller: Caller, id: string, change: Partial<CouponLimits>): Promise<Coupon> {
      const owner = ownerOf(caller)
      const changed = await store.change(owner, id, change, clock.now())
      if (changed !== null) return changed
      const { archivedAt, used } = await get(owner, id)
      throw archivedAt === null ? maxBelowUses(used) : couponArchived()
    },

    /** Ends it at once. An archived one stays as it is. */
    async archive(caller: Caller, id: string): Promise<Coupon> {
      const archived = await store.archive(ownerOf(caller), id, clock.now())
      if (archived === null) throw couponMissing()
      return archived
    },

    /** The coupon with this code, whatever its limits; null where there is none. A wrong one counts as a guess. */
    async look(owner: Owner, code: string, { from, checkoutId }: Guess): Promise<Coupon | null> {
      const find = () => store.findByCode(owner, code)
      if (from === null) return await find()
      return await guesses.guess(from, find, (found) => isValid(found, checkoutId, clock.now()))
    },
  }
}

export type Coupons = ReturnType<typeof createCoupons>

/** The uses of codes, in the transactions of the sales that use them. */
export function createCouponUses(store: CouponStore): CouponUses {
  return {
    async claim(inside, use) {
      if (!(await store.addUse(inside, use))) return
      const counted = await store.countUse(inside, use)
      if (counted === null) {
        const now = await store.find(inside, use.couponId)
        throw now?.archivedAt === null && !isOver(now, use.at) ? couponUsedUp() : couponInvalid()
      }
      const { perCustomer } = counted
      if (perCustomer === null || use.test) return
      if ((await store.usesOf(inside, use.couponId, use.payer)) > perCustomer) throw couponSpent(perCustomer)
    },
    release: (inside, saleId) => store.dropUse(inside, saleId),
  }
}

/** Throws unless a purchase at this checkout may use it now. How often it was used is decided when the sale begins. */
export function assertUsable(coupon: Coupon | null, at: { checkoutId: string; test: boolean; now: Date }): Coupon {
  if (!isValid(coupon, at.checkoutId, at.now)) throw couponInvalid()
  if (coupon.max !== null && (at.test ? coupon.tested : coupon.used) >= coupon.max) throw couponUsedUp()
  return coupon
}

/** What strangers are told about a code, apart from its uses. */
function isValid(coupon: Coupon | null, checkoutId: string, now: Date): coupon is Coupon {
  if (coupon?.archivedAt !== null || isOver(coupon, now)) return false
  return coupon.checkouts?.includes(checkoutId) ?? true
}

interface Guess {
  /** Who names the code. Null where it is known to be right. */
  from: string | null
  checkoutId: string
}

function isOver({ until }: Pick<Coupon, 'until'>, now: Date): boolean {
  return until !== null && until <= now
}

export interface CouponUses {
  /** Throws where the code may not be used any more, so that the sale does not begin. */
  claim(inside: Statements, use: CouponUse): Promise<void>
  /** The sale has ended unpaid. May be repeated. */
  release(inside: Statements, saleId: string): Promise<void>
}

import { createGuessLimit } from '../api/limits.ts'
import type { Part, Platform } from './platform.ts'
import { couponRoutes } from '../coupons/http.ts'
import { createCoupons, createCouponUses, type Coupons, type CouponUses } from '../coupons/service.ts'
import { createCouponStore } from '../coupons/store.ts'

/** The codes of accounts, and their uses. */
export function openCoupons({ database, clock, redis }: Platform): Opened {
  const store = createCouponStore(database.statements)
  const guesses = createGuessLimit('coupon-codes', WRONG_CODES_PER_HOUR, redis)
  const coupons = createCoupons({ store, guesses, clock })
  return {
    coupons,
    couponUses: createCouponUses(store),
    part: { routes: [{ surface: 'api', routes: couponRoutes(coupons) }] },
  }
}

interface Opened {
  coupons: Coupons
  couponUses: CouponUses
  part: Part
}

/** From one address, or of one account: a code of three characters has some 50,000 neighbours. */
const WRONG_CODES_PER_HOUR = 30

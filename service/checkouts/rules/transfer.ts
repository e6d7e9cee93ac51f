import { invalid } from '../../kit/errors.ts'
import { requestTooShort } from '../errors.ts'
import type { Checkout } from '../model.ts'
import type { PricedChoice } from './quote.ts'
import { mayBeRequested } from './requests.ts'

/**
 * When an order by transfer ends by itself: with its code, or with the request that it pays. Null where neither ends. The
 * buyer pays the network for a transfer, so an order that ends before the earliest time is refused.
 */
export function transferEnd(
  checkout: Pick<Checkout, 'lifetime' | 'source' | 'after' | 'leasedUntil'>,
  { until: codeEnds }: Pick<PricedChoice, 'until'>,
  earliest: Date,
): Date | null {
  if (codeEnds !== null && codeEnds < earliest) {
    throw invalid({
      'choice.coupon': 'ends within the hour, before a transfer may arrive: pay with a wallet, or without the code',
    })
  }
  // The lease of any other temporary checkout is renewed.
  const requestEnds = mayBeRequested(checkout) ? checkout.leasedUntil : null
  if (requestEnds !== null && requestEnds < earliest) throw requestTooShort()
  if (codeEnds === null || requestEnds === null) return codeEnds ?? requestEnds
  return codeEnds < requestEnds ? codeEnds : requestEnds
}

import type { SaleMethod } from '../../sales/ports.ts'
import { readRequest } from '../../x402/payload.ts'
import type { OwnDeps } from '../own/offer.ts'
import { ownMethod, requestIn, settleHere } from '../own/settle.ts'
import { takenOf } from './rules.ts'

/** What was used of what the buyer permitted. The sale stores how much that is before the chain is asked. */
export function uptoMethod(deps: OwnDeps): SaleMethod {
  return {
    ...ownMethod(deps),
    taken: ({ amount: most }, used) => takenOf(used, { most, least: deps.permits.least }),
    settle(sale, waitMs) {
      const { required, ...payment } = readRequest(requestIn(sale))
      return settleHere(deps, sale, { ...payment, required: { ...required, amount: sale.amount } }, waitMs)
    },
  }
}

import type { SaleMethod } from '../../sales/ports.ts'
import { readRequest } from '../../x402/payload.ts'
import type { OwnDeps } from './deps.ts'
import { requestIn, settleHere } from './settle.ts'
import { verifyHere } from './verify.ts'

/** Payments that this service's own facilitator settles. */
export function ownMethod(deps: OwnDeps): SaleMethod {
  return {
    signed: true,
    simulated: false,
    verify: (sale) => verifyHere(deps, requestIn(sale)),
    settle: (sale, waitMs) => settleHere(deps, sale, waitMs),
  }
}

/** The same, with money that waits in the escrow meanwhile. */
export function escrowMethod(deps: OwnDeps): SaleMethod {
  return { ...ownMethod(deps), left: (sale) => deps.facilitator.leftInEscrow(readRequest(requestIn(sale))) }
}

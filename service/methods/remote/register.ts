import type { SaleMethod } from '../../sales/ports.ts'
import { remotePaymentOf, type RemoteDeps } from './deps.ts'
import { settleRemotely } from './settle.ts'
import { verifyRemotely } from './verify.ts'

/**
 * Payments that another facilitator settles: the one that the sale was begun with, or `unnamed` where it was begun before
 * that was stored.
 */
export function remoteMethod(deps: RemoteDeps, unnamed: string | null): SaleMethod {
  return {
    signed: true,
    simulated: false,
    verify: (sale) => verifyRemotely(deps, remotePaymentOf(sale, unnamed)),
    settle: (sale) => settleRemotely(deps, remotePaymentOf(sale, unnamed), sale.id),
  }
}

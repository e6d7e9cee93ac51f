import type { Clock } from '../../kit/clock.ts'
import type { SaleMethod } from '../../sales/ports.ts'
import { settleSimulated } from './settle.ts'

/** Payments of test mode. */
export function simulatedMethod(deps: { clock: Clock }): SaleMethod {
  return {
    signed: false,
    simulated: true,
    verify: () => Promise.reject(new Error('nobody signs a simulated payment')),
    settle: (sale) => Promise.resolve(settleSimulated(deps, sale)),
  }
}

import type { Clock } from '../../kit/clock.ts'
import type { Sale } from '../../sales/model.ts'
import type { SaleMethod } from '../../sales/ports.ts'

/** Payments of test mode. */
export function simulatedMethod(deps: { clock: Clock }): SaleMethod {
  return {
    signed: false,
    simulated: true,
    verify: () => Promise.reject(new Error('nobody signs a simulated payment')),
    settle: (sale) => Promise.resolve(settleSimulated(deps, sale)),
  }
}

/** Only time settles a simulated payment, or the success of the work that it was held for. */
function settleSimulated(
  { clock }: { clock: Clock },
  { id, createdAt, result }: Pick<Sale, 'id' | 'createdAt' | 'result'>,
): Awaited<ReturnType<SaleMethod['settle']>> {
  const age = clock.now().getTime() - createdAt.getTime()
  if (result !== null || age >= PAID_MS) return { status: 'settled', txHash: simulatedHash(id) }
  return { status: age < SETTLING_MS ? 'waiting' : 'pending' }
}

/** When a simulated payment that takes its time is looked at again. */
export function nextStep(createdAt: Date): Date {
  return new Date(createdAt.getTime() + SETTLING_MS)
}

/** Replaces the transaction hash of a simulated payment, or of its refund. */
export function simulatedHash(id: string): string {
  return `simulated:${id}`
}

const SETTLING_MS = 1_500
const PAID_MS = 4_000

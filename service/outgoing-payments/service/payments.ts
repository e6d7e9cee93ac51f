import type { Address } from '../../chain/model.ts'
import type { Statements } from '../../kit/transaction.ts'
import { createDeferral } from './deferred.ts'
import type { OutgoingPaymentDeps } from './deps.ts'
import { createEnding } from './end.ts'
import { createFunding } from './fund.ts'
import { createPaymentsHere } from './here.ts'
import { createPay } from './pay.ts'
import { createReconciling } from './reconcile.ts'
import { createReservation } from './reserve.ts'
import { createSigning } from './sign.ts'

/** Pays from an account: addresses outside by x402 or MPP, out of a payer wallet of its own, and other accounts here. */
export function createOutgoingPayments(deps: OutgoingPaymentDeps) {
  const { store } = deps
  const ending = createEnding(deps)
  const funding = createFunding({ ...deps, ending })
  const signing = createSigning({ ...deps, funding })
  const reconciling = createReconciling({ ...deps, funding, ending })
  return {
    ...createPay({
      ...deps,
      signing,
      reservation: createReservation({ ...deps, signing, funding }),
      deferral: createDeferral(deps),
      reconciling,
    }),
    here: createPaymentsHere({ ...deps, signing }),
    sign: signing.sign,
    reconcile: reconciling.reconcileDue,
    accountOf: (address: Address, inside: Statements) => store.accountOf(address, inside),
  }
}

export type OutgoingPayments = ReturnType<typeof createOutgoingPayments>

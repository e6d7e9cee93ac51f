import type { Config } from '../config.ts'
import type { Clock } from '../kit/clock.ts'
import type { StatementPool } from '../kit/transaction.ts'
import { createOutflow, type Outflows } from '../outflow/service.ts'
import { createOutflowStore } from '../outflow/store.ts'

/** Also for the operator's command, which has no service around it. */
export function openOutflow(config: Config, { statements, clock }: From): Outflows {
  const limit = <T extends bigint | number>(most: T): T | null => (BigInt(most) === 0n ? null : most)
  return createOutflow({
    store: createOutflowStore(statements),
    clock,
    settings: {
      paused: config.PAYOUTS === 'off',
      limits: {
        perDay: limit(config.WITHDRAWAL_LIMIT_PER_DAY),
        totalPerDay: limit(config.WITHDRAWAL_LIMIT_TOTAL_PER_DAY),
        withdrawalsPerDay: limit(config.WITHDRAWALS_PER_DAY),
        refundsPerDay: limit(config.REFUNDS_PER_DAY),
        paymentsPerDay: limit(config.PAYMENTS_PER_DAY),
      },
      purchasesAbove: config.PURCHASES_COUNTED_ABOVE,
      allowList: config.WITHDRAWAL_ALLOW_LIST.map((address) => address.toLowerCase()),
    },
  })
}

interface From {
  statements: StatementPool
  clock: Clock
}

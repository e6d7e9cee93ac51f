import type { Facilitator } from '../facilitator/service.ts'
import { NO_FAILPOINTS, type Failpoints } from '../kit/failpoints.ts'
import { saleSweepers } from '../sales/jobs.ts'
import type { Hooks, Journal, Method, SaleStore } from '../sales/ports.ts'
import type { SellingDeps } from '../sales/service/deps.ts'
import { createJournal } from '../sales/service/journal.ts'
import type { PaymentTokens } from '../sales/service/proof.ts'
import { createSettling } from '../sales/service/settle.ts'
import { createSweeping, type Sweeping } from '../sales/service/sweep.ts'
import { createSaleStore } from '../sales/store.ts'
import { readRequest } from '../x402/payload.ts'
import type { Ground, Part } from './ground.ts'

/** What everything stands on that is sold for payments outside of the ledger. */
export function openSelling(
  { config, clock, log, database, metrics }: Ground,
  { facilitator, tokens, hooks, failpoints = NO_FAILPOINTS }: SellingGiven,
): { selling: SellingDeps; store: SaleStore; sweeping: Sweeping; part: Part } {
  const store = createSaleStore(database.statements)
  const journal: Journal = createJournal({ store, purchases: facilitator.purchases, hooks, clock })
  const method = ownMethod(facilitator)
  const selling = {
    journal,
    method,
    tokens,
    clock,
    log,
    measures: metrics,
    failpoints,
    settleMs: config.SETTLE_WAIT_MS,
  }
  const settle = createSettling(selling)
  const sweeping = createSweeping({ store, journal, settle, log })
  return { selling, store, sweeping, part: { sweepers: saleSweepers(sweeping) } }
}

interface SellingGiven {
  facilitator: Facilitator
  tokens: PaymentTokens
  hooks: Hooks
  failpoints: Failpoints | undefined
}

/** By this service's own facilitator: its word is the chain's. */
function ownMethod(facilitator: Facilitator): Method {
  return {
    digestOf: (signed) => facilitator.purchases.digestOf(signed),
    digestBy: (network, payer, nonce) => facilitator.purchases.digestBy(network, payer, nonce),
    verify: (request) => facilitator.verify(readRequest(request)),
    async settle(request, operation, waitMs) {
      const asker = { operation, keeps: true, ...(waitMs === undefined ? {} : { waitMs }) }
      const answer = await facilitator.settle(readRequest(request), asker)
      if (answer.success) return { status: 'settled', txHash: answer.txHash }
      return answer.status === 'pending' ? { status: 'pending' } : { status: 'failed', reason: answer.reason }
    },
    serves: (network) => facilitator.serves(network),
  }
}

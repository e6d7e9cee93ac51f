import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { StatementPool } from '../kit/transaction.ts'
import type { Ledger } from '../ledger/service.ts'
import type {
  AgentStore,
  Announce,
  ApprovalStore,
  DecisionStore,
  Pause,
  Post,
  RevokeKeys,
  TellEvent,
  Tickets,
} from './ports.ts'
import type { ChainOf, Payer, PaymentStore, Seller } from './ports/payment.ts'
import { createAgents } from './service/agents.ts'
import { createApprovals } from './service/approvals.ts'
import { createGuard } from './service/guard.ts'
import { createLook, createLooking } from './service/look.ts'
import { createNews } from './service/news.ts'
import { createPay } from './service/pay.ts'
import { createSigning } from './service/sign.ts'

/** What programs may spend, whom they ask when it is more, and the paying of addresses outside. */
export function createSpending(parts: SpendingParts) {
  const { clock, ledger, store, tickets, statements } = parts
  const { api } = parts.addresses
  const news = createNews({
    ...parts,
    approvals: store.approvals,
    pageUrl: (id, ticket) => `${api}/approvals/${id}/page?ticket=${ticket}`,
  })
  const { announce } = news
  const guard = createGuard({
    ledger,
    clock,
    store: store.decisions,
    statusUrl: (id) => `${api}/approvals/${id}`,
    announce,
  })
  const agents = createAgents({
    store: store.agents,
    clock,
    revokeKeys: parts.revokeKeys,
    announce,
    note: (decision) => store.decisions.record(statements, [], [decision]),
  })
  const chained = { ...parts, store: store.payments }
  const look = createLook(chained)
  const signing = createSigning(chained)
  return {
    ...guard,
    agents,
    approvals: createApprovals({
      store: store.approvals,
      tickets,
      clock,
      announce: parts.announce,
      pause: parts.pause,
    }),
    payments: createPay({
      ...chained,
      guard,
      mayReach: (owner, spender, reference) => agents.mayReach(owner, spender, reference),
      signed: (payment) => signing.signed(payment),
      look,
      statusUrl: (id) => `${api}/pay/${id}`,
    }),
    lookAtPayments: createLooking(chained, look),
    signPayment: signing.sign,
    tell: news.tell,
    askPerson: news.ask,
  }
}

export type Spending = ReturnType<typeof createSpending>

export interface SpendingParts {
  store: { agents: AgentStore; approvals: ApprovalStore; decisions: DecisionStore; payments: PaymentStore }
  statements: StatementPool
  ledger: Ledger
  clock: Clock
  log: Log
  announce: Announce
  tell: TellEvent
  tickets: Tickets
  post: Post | null
  revokeKeys: RevokeKeys
  addresses: { api: string }
  seller: Seller
  /** Null where this server pays nothing. */
  payer: Payer | null
  chainOf: ChainOf
  /** How deep a payment lies before it is captured. */
  confirmations: number
  /** How long a seller has for each of its two answers. */
  patienceMs: number
  pause: Pause
}

export { ALERT, APPROVAL, type Alerted } from './service/news.ts'
export { SIGN } from './service/sign.ts'

import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { StatementPool, Statements } from '../kit/transaction.ts'
import type { Ledger } from '../ledger/service.ts'
import type { Outflows } from '../outflow/service.ts'
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
import type { ChainOf, Checkpoint, PayerKeys, PaymentStore, Seal, Seller, Treasury } from './ports/payment.ts'
import { createAgents } from './service/agents.ts'
import { createApprovals } from './service/approvals.ts'
import { createEnding } from './service/end.ts'
import { createFunding } from './service/fund.ts'
import { createGuard } from './service/guard.ts'
import { createLater } from './service/later.ts'
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
    async note(decision) {
      await store.decisions.record(statements, [], [decision])
    },
  })
  const chained = { ...parts, store: store.payments }
  const ending = createEnding(chained)
  const funding = createFunding({ ...chained, ending })
  const look = createLook({ ...chained, funding, ending })
  const signing = createSigning({ ...chained, funding })
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
      signing,
      lacks: (payment) => (parts.isWorker ? funding.lacks(payment) : null),
      later: createLater(chained),
      look,
      statusUrl: (id) => `${api}/pay/${id}`,
    }),
    lookAtPayments: createLooking({ ...chained, funding, ending }, look),
    signPayment: signing.sign,
    /** What this network's payers may still take out of the treasury, and what the books say of their wallets. */
    promised: (treasury: Address) => store.payments.promised(treasury),
    payerBooks: (network: NetworkName, block: bigint, inside: Statements) =>
      store.payments.books(network, block, inside),
    tell: news.tell,
    askPerson: news.ask,
  }
}

export type Spending = ReturnType<typeof createSpending>

export interface SpendingParts {
  store: { agents: AgentStore; approvals: ApprovalStore; decisions: DecisionStore; payments: PaymentStore }
  statements: StatementPool
  ledger: Ledger
  outflow: Outflows
  clock: Clock
  log: Log
  announce: Announce
  tell: TellEvent
  tickets: Tickets
  post: Post | null
  revokeKeys: RevokeKeys
  addresses: { api: string }
  seller: Seller
  /** Null where there is no seed: then a worker that has one signs. */
  keys: PayerKeys | null
  /** Whether this process funds and signs. */
  isWorker: boolean
  treasury: Treasury
  seal: Seal
  checkpoint: Checkpoint
  /** As people write an address, with its checksum. */
  written(address: Address): string
  chainOf: ChainOf
  /** How deep a payment lies before it is captured. */
  confirmations: number
  /** How long a seller has for each of its two answers. */
  patienceMs: number
  pause: Pause
}

export { ALERT, APPROVAL, type Alerted } from './service/news.ts'
export { PAY } from './service/later.ts'
export { SIGN } from './service/sign.ts'

import type { Announcement } from '../../service/queue/model.ts'
import { newId } from '../../service/kit/ids.ts'
import { usdc } from '../../service/kit/money.ts'
import type { Clock } from '../../service/kit/clock.ts'
import type { StatementPool } from '../../service/kit/transaction.ts'
import { createLedger, type Ledger } from '../../service/ledger/service.ts'
import { createLedgerStore } from '../../service/ledger/store.ts'
import { createOutflow } from '../../service/outflow/service.ts'
import { createOutflowStore } from '../../service/outflow/store.ts'
import type { Agent, AgentReserve, Limit, Policy, Spender } from '../../service/spending/model.ts'
import { createSpending, type Spending } from '../../service/spending/service.ts'
import { createSpendingStore } from '../../service/spending/store.ts'

export interface SpendingUnderTest {
  spending: Spending
  ledger: Ledger
  announced: Announcement[]
}

/** Spending on the real ledger and database, with what it announces kept for looking at. */
export function spendingOn(statements: StatementPool, clock: Clock): SpendingUnderTest {
  const ledger = createLedger(createLedgerStore(statements, clock), clock)
  const announced: Announcement[] = []
  const spending = createSpending({
    store: createSpendingStore(statements),
    ledger,
    outflow: createOutflow({
      store: createOutflowStore(statements),
      clock,
      settings: { paused: false, limits: { perDay: null, totalPerDay: null, withdrawalsPerDay: null }, allowList: [] },
    }),
    clock,
    announce: async (_, announcements) => {
      announced.push(...announcements)
    },
    tell: async () => undefined,
    tickets: { of: (id) => `ticket-${id}`, proves: (id, ticket) => ticket === `ticket-${id}` },
    post: null,
    revokeKeys: async () => undefined,
    addresses: { api: 'http://api.test/v1' },
    statements,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    seller: {
      send: () => Promise.reject(new Error('nobody is paid here')),
      checkAddress: async () => undefined,
      checkHeaders: () => undefined,
    },
    keys: null,
    isWorker: false,
    treasury: { address: () => null, available: async () => 0n, lacks: () => null, send: async () => null },
    written: (address) => address,
    seal: { seal: (text) => text, open: (sealed) => sealed },
    checkpoint: () => undefined,
    chainOf: () => null,
    confirmations: 1,
    patienceMs: 1_000,
    pause: async () => undefined,
  })
  return { spending, ledger, announced }
}

export function policyOf(
  rules: Partial<Omit<Policy, 'limits'>> & { limits?: Partial<Record<Limit, bigint>> } = {},
): Policy {
  const none = { perCall: null, perMinute: null, perDay: null, perWeek: null, perMonth: null, lifetime: null }
  return {
    rate: { callsPerMinute: null },
    tools: { allow: null, deny: [] },
    rdas: { allow: null, deny: [] },
    domains: { allow: null, deny: [] },
    approvalAbove: null,
    alerts: [],
    onExceeded: 'refuse',
    ...rules,
    limits: { ...none, ...rules.limits } as Policy['limits'],
  }
}

let people = 0

/** Somebody with money, and an agent of theirs. */
export async function agentWith(
  { spending, ledger }: SpendingUnderTest,
  policy: Policy,
  balance = 1_000_000n,
): Promise<Agent> {
  const userId = `usr_s${String(++people)}${Math.random().toString(36).slice(2)}`
  const owner = { userId, environment: 'sandbox' as const }
  await ledger.openAccounts(userId)
  const id = `fund_${userId}`
  await ledger.credit({ id, kind: 'deposit', owner, amount: usdc(balance), reference: null, act: id })
  return await spending.agents.create(
    callerOf(userId),
    { name: 'Agent', status: 'active', policy },
    newId('op', new Date()),
  )
}

export function callerOf(userId: string) {
  const user = {
    id: userId as `usr_${string}`,
    issuer: 'coinslot',
    subject: userId,
    name: null,
    email: null,
    emailConfirmed: false,
  }
  const asked = { user, subject: userId, issuer: 'coinslot', environment: 'sandbox' as const }
  return { ...asked, via: 'session' as const, keyId: null, agentId: null }
}

let calls = 0

/** One call that the agent wants to pay for. */
export function callOf(
  agent: Agent,
  amount: bigint,
  spender: Partial<Spender> = {},
  id = `run_${String(++calls)}`,
): AgentReserve {
  return {
    id,
    owner: agent.owner,
    amount: usdc(amount),
    useCredits: false,
    deadline: new Date(Date.now() + 86_400_000),
    reference: null,
    spender: { agentId: agent.id, kind: 'run', target: 'a-run', requestHash: `hash of ${id}`, ...spender },
  }
}

/** What became of it: `allowed`, or the rule that stood against it. */
export async function verdictOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked
    return 'allowed'
  } catch (error) {
    const { code, fields } = error as { code?: string; fields?: { limit?: string } }
    return fields?.limit ?? code ?? String(error)
  }
}

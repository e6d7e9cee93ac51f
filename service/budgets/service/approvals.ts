import { accountOf, type Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { approvalMissing, approvalOver, approvalRefused } from '../errors.ts'
import type { Approval, Page } from '../model.ts'
import type { Announce, ApprovalStore, Pause, Tickets } from '../ports.ts'
import { APPROVAL_MS } from '../rules/decide.ts'

/** Calls that wait for a person. */
export function createApprovals({ store, tickets, clock, announce, pause }: ApprovalsDeps) {
  /** The calling agent may read its own approvals too. */
  async function find(caller: Caller, id: string): Promise<Approval> {
    const { userId, environment } = accountOf(caller)
    const approval = await store.find(id)
    const own = approval?.owner.userId === userId && approval.owner.environment === environment
    if (approval === null || !own) throw approvalMissing()
    if (caller.agentId !== null && caller.agentId !== approval.agentId) throw approvalMissing()
    return seen(approval)
  }

  async function byTicket(id: string, ticket: string): Promise<Approval> {
    // The ticket is checked first, so that an answer reveals nothing about ids.
    const approval = tickets.proves(id, ticket) ? await store.find(id) : null
    if (approval === null) throw approvalMissing()
    return seen(approval)
  }

  /** Decides once: repeating the same decision returns its result, a different one is refused. */
  async function decide(approval: Approval, state: 'approved' | 'refused'): Promise<Approval> {
    const now = clock.now()
    const decided = { state, now, expiresAt: new Date(now.getTime() + APPROVAL_MS) }
    const done = await store.decide(approval.id, decided, async (inside, { onApproved }) => {
      if (state === 'approved' && onApproved !== null) await announce(inside, [onApproved])
    })
    if (done === null) throw approvalMissing()
    const after = seen(done.approval)
    if (!done.changed && after.state !== state && !(state === 'approved' && after.state === 'used')) {
      throw approvalOver(after.state)
    }
    return after
  }

  /** An expired approval counts as lapsed even before the sweeper has ended it. */
  function seen(approval: Approval): Approval {
    const open = approval.state === 'pending' || approval.state === 'approved'
    return open && approval.expiresAt <= clock.now() ? { ...approval, state: 'lapsed' } : approval
  }

  return {
    find,
    byTicket,
    async list(caller: Caller, filter: { state: Approval['state'] | null; agentId: string | null }, page: Page) {
      const { approvals, total } = await store.list(accountOf(caller), filter, page)
      return { approvals: approvals.map(seen), total }
    },
    decide: async (caller: Caller, id: string, state: 'approved' | 'refused') => decide(await find(caller, id), state),
    decideByTicket: async (id: string, ticket: string, state: 'approved' | 'refused') =>
      decide(await byTicket(id, ticket), state),

    /** True as soon as it is approved; false when no person decided in time. */
    async awaitDecision(id: string, waitMs: number, gone: AbortSignal): Promise<boolean> {
      const end = clock.now().getTime() + waitMs
      while (!gone.aborted && clock.now().getTime() < end) {
        await pause(ASK_EVERY_MS)
        const approval = await store.find(id)
        if (approval === null) throw approvalMissing()
        const { state } = seen(approval)
        if (state === 'refused') throw approvalRefused(approval)
        if (state !== 'pending') return state === 'approved'
      }
      return false
    },

    async lapse(): Promise<void> {
      for (;;) {
        const lapsed = await store.lapse(clock.now(), LAPSE_BATCH)
        if (lapsed.length < LAPSE_BATCH) return
      }
    },
  }
}

export type Approvals = ReturnType<typeof createApprovals>

export interface ApprovalsDeps {
  store: ApprovalStore
  tickets: Tickets
  clock: Clock
  announce: Announce
  pause: Pause
}

const ASK_EVERY_MS = 400
const LAPSE_BATCH = 100

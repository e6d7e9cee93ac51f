import type { Clock } from '../../kit/clock.ts'
import { newId, type Id } from '../../kit/ids.ts'
import { toWire } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { EventName } from '../../deliveries/model.ts'
import type { Environment, Owner } from '../../kit/owner.ts'
import { turnOf, type Announcement, type JsonObject } from '../../queue/model.ts'
import type { Agent, Approval } from '../model.ts'
import type { Announce, ApprovalStore, NewAlert, Post, TellEvent, Tickets } from '../ports.ts'

/** Notifications for owners: alerts go to their endpoints and by mail, open approvals by mail only. */
export function createNews(deps: NewsDeps) {
  return {
    /** Runs in the transaction of the event it announces. */
    async announce(inside: Statements, news: News): Promise<void> {
      const events = [
        ...news.alerts.map((alert) => announcement(alert.agent, alertEvent(alert))),
        ...news.paused.map((paused) => announcement(paused.agent, pausedEvent(paused))),
      ]
      const approvals = news.approvals.map(({ id, owner }) => {
        return { topic: APPROVAL, payload: { approvalId: id }, turn: turnOf(owner) }
      })
      if (events.length + approvals.length > 0) await deps.announce(inside, [...events, ...approvals])
    },

    /** Safe to repeat: event and mail have the announcement's id. */
    async tell({ eventId, userId, environment, event, data }: AlertAnnouncement, attempt: number): Promise<void> {
      const owner: Owner = { userId, environment }
      await deps.tell({ id: eventId as Id<'evt'>, owner, event, data })
      await deps.post?.send(owner, { id: eventId, ...mailOf(event, data) }, { kind: event, attempt })
    },

    /** Asks by mail only, because the list of approvals shows it too. */
    async ask(approvalId: string, attempt: number): Promise<void> {
      if (deps.post === null) return
      const approval = await deps.approvals.find(approvalId)
      if (approval?.state !== 'pending' || approval.expiresAt <= deps.clock.now()) return
      const link = deps.pageUrl(approval.id, deps.tickets.of(approval.id))
      const { agentName, kind, target, amount, expiresAt } = approval
      const subject = `${agentName} requests approval of ${String(toWire(amount))} USDC`
      const text = `Your agent ${agentName} wants to spend ${String(toWire(amount))} USDC (${kind}: ${target}).

Approve or refuse it here, until ${expiresAt.toISOString()}:

${link}

Opening the link only shows the request and changes nothing.
`
      await deps.post.send(approval.owner, { id: approval.id, subject, text }, { kind: 'approval', attempt })
    },
  }

  function announcement({ owner }: Agent, event: AgentEvent): Announcement {
    const payload = { eventId: newId('evt', deps.clock.now()), ...owner, ...event }
    return { topic: ALERT, payload, turn: turnOf(owner) }
  }
}

/** The event about an agent that an owner's endpoints receive. */
interface AgentEvent {
  event: EventName
  data: JsonObject
}

type NamedAgent = Pick<Agent, 'id' | 'name'>

export function alertEvent(alert: Omit<NewAlert, 'agent'> & { agent: NamedAgent }): AgentEvent {
  const { agent, event, limit, at, window, spent, allowed } = alert
  const figures = { limit, at, window: window.toISOString(), spent: toWire(spent), allowed: toWire(allowed) }
  return { event, data: { agentId: agent.id, name: agent.name, ...figures } }
}

export function pausedEvent({ agent, limit }: { agent: NamedAgent; limit: string | null }): AgentEvent {
  return { event: 'agent.paused', data: { agentId: agent.id, name: agent.name, limit } }
}

/** The notifications of a batch, sent once it is committed. */
export interface News {
  alerts: readonly NewAlert[]
  paused: readonly { agent: Agent; limit: string | null }[]
  approvals: readonly Approval[]
}

export interface NewsDeps {
  clock: Clock
  announce: Announce
  tell: TellEvent
  approvals: ApprovalStore
  tickets: Tickets
  pageUrl(approvalId: string, ticket: string): string
  /** Null where no mail can be sent. */
  post: Post | null
}

/** An alert's announcement. */
export interface AlertAnnouncement {
  eventId: string
  userId: string
  environment: Environment
  event: EventName
  data: Readonly<Record<string, unknown>>
}

export const ALERT = 'spending.alert'
export const APPROVAL = 'spending.approval'

function mailOf(event: EventName, data: AlertAnnouncement['data']): { subject: string; text: string } {
  const { name, limit, spent, allowed, window } = data
  const since = typeof window === 'string' && window !== NEVER_BEGAN ? ` since ${window}` : ''
  const figures = `It has spent ${String(spent)} of ${String(allowed)} USDC (${String(limit)}${since}).`
  switch (event) {
    case 'agent.spending.warning':
      return {
        subject: `${String(name)} is near its limit`,
        text: `Your agent ${String(name)} is near a limit. ${figures}\n`,
      }
    case 'agent.spending.exceeded':
      return {
        subject: `${String(name)} was stopped by its limit`,
        text: `A call of your agent ${String(name)} was refused: it would have exceeded a limit. ${figures}\n`,
      }
    default:
      return {
        subject: `${String(name)} is paused`,
        text: `Your agent ${String(name)} is paused and spends nothing until you resume it.\n`,
      }
  }
}

/** The window start of the lifetime limit. */
const NEVER_BEGAN = new Date(0).toISOString()

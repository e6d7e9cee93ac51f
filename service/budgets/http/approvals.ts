import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { page } from '../../kit/wire.ts'
import { plainErrorPage } from '../../ui-kit/plain-page.ts'
import { APPROVAL_STATES } from '../model.ts'
import type { Approvals } from '../service/approvals.ts'
import { approvalBody, toApproval } from './bodies.ts'
import { approvalPage } from './page.ts'

export function approvalRoutes(approvals: Approvals): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/approvals',
      summary: 'List approvals, pending and decided, newest first',
      tag: 'Approvals',
      auth: 'person',
      query: page.extend({
        status: z.enum(APPROVAL_STATES).optional(),
        agentId: z.string().max(100).optional(),
      }),
      answers: { 200: z.object({ approvals: z.array(approvalBody), total: z.int(), limit: z.int(), offset: z.int() }) },
      async handle({ caller, query }) {
        const { limit, offset, status = null, agentId = null } = query
        const found = await approvals.list(caller, { state: status, agentId }, { limit, offset })
        return reply(200, { approvals: found.approvals.map(toApproval), total: found.total, limit, offset })
      },
    }),
    route({
      method: 'get',
      path: '/approvals/:id',
      summary: 'Get an approval; the agent that requested it may read it too',
      tag: 'Approvals',
      auth: 'agent',
      params: one,
      answers: { 200: z.object({ approval: approvalBody }) },
      errors: MISSING,
      handle: async ({ caller, params }) =>
        reply(200, { approval: toApproval(await approvals.find(caller, params.id)) }),
    }),
    ...(['approve', 'refuse'] as const).map((word) =>
      route({
        method: 'post',
        path: `/approvals/:id/${word}`,
        summary: word === 'approve' ? 'Approve the call, once' : 'Refuse the call',
        tag: 'Approvals',
        auth: 'person',
        idempotent: true,
        params: one,
        answers: { 200: z.object({ approval: approvalBody }) },
        errors: { ...MISSING, 409: 'The approval was already decided otherwise or has expired.' },
        handle: async ({ caller, params }) =>
          reply(200, { approval: toApproval(await approvals.decide(caller, params.id, STATE[word])) }),
      }),
    ),
    ...pageRoutes(approvals),
  ]
}

/** The page for the person who got the link by mail. A mail scanner may open it, so only the page's button decides. */
function pageRoutes(approvals: Approvals): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/approvals/:id/page',
      summary: 'The approval page that the mail links to',
      tag: 'Approvals',
      auth: 'anyone',
      params: one,
      query: ticket,
      errorPage: plainErrorPage,
      answers: { 200: z.string() },
      errors: MISSING,
      async handle({ params, query }) {
        const approval = await approvals.byTicket(params.id, query.ticket)
        return { status: 200, body: undefined, page: approvalPage(approval, query.ticket) }
      },
    }),
    ...(['approve', 'refuse'] as const).map((word) =>
      route({
        method: 'post',
        path: `/approvals/:id/page/${word}`,
        summary: `Submit the approval page: ${word}`,
        tag: 'Approvals',
        auth: 'anyone',
        params: one,
        query: ticket,
        errorPage: plainErrorPage,
        answers: { 200: z.string() },
        errors: { ...MISSING, 409: 'The approval was already decided otherwise or has expired.' },
        async handle({ params, query }) {
          const approval = await approvals.decideByTicket(params.id, query.ticket, STATE[word])
          return { status: 200, body: undefined, page: approvalPage(approval, query.ticket) }
        },
      }),
    ),
  ]
}

const STATE = { approve: 'approved', refuse: 'refused' } as const
const one = z.object({ id: z.string() })
const ticket = z.object({ ticket: z.string().max(200) })
const MISSING = { 404: 'You have no such approval.' }

import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { page } from '../../kit/wire.ts'
import { DISPUTE_STATES } from '../model.ts'
import type { Disputes } from '../service/disputes.ts'
import { answerBody, disputeOut, policyBody, policyOut, toDisputeOut, toPolicy, toPolicyOut } from './bodies.ts'

const common = { tag: 'Payments', auth: 'person' } as const
const named = z.object({ id: z.string() })

/** Problems that buyers reported, and what the seller promises for them. */
export function disputeRoutes(disputes: Disputes): AnyRoute[] {
  return [
    route({
      ...common,
      method: 'get',
      path: '/disputes',
      summary: 'Problems with payments that buyers reported, newest first',
      query: page.extend({ state: z.enum(DISPUTE_STATES).optional() }),
      answers: { 200: z.object({ disputes: z.array(disputeOut), total: z.int(), limit: z.int(), offset: z.int() }) },
      async handle({ caller, query: { state = null, limit, offset } }) {
        const { disputes: found, total } = await disputes.list(caller, state, { limit, offset })
        return reply(200, { disputes: found.map(toDisputeOut), total, limit, offset })
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/disputes/:id',
      summary: 'One dispute',
      params: named,
      answers: { 200: z.object({ dispute: disputeOut }) },
      errors: { 404: 'You have no such dispute.' },
      handle: async ({ caller, params }) =>
        reply(200, { dispute: toDisputeOut(await disputes.get(caller, params.id)) }),
    }),
    route({
      ...common,
      method: 'post',
      path: '/disputes/:id/answer',
      summary: 'Refund the buyer, whole or in part, or decline',
      idempotent: true,
      params: named,
      body: answerBody,
      answers: { 200: z.object({ dispute: disputeOut }) },
      errors: {
        404: 'You have no such dispute.',
        409: 'The dispute is not open any more, or the payment cannot be refunded.',
      },
      async handle({ caller, params, body: { action, amount = null, text = null } }) {
        const answered = await disputes.answer(caller, params.id, { action, amount, text })
        return reply(200, { dispute: toDisputeOut(answered) })
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/refund-policy',
      summary: 'What you promise buyers who have a problem',
      answers: { 200: z.object({ refundPolicy: policyOut }) },
      handle: async ({ caller }) => reply(200, { refundPolicy: toPolicyOut(await disputes.policy(caller)) }),
    }),
    route({
      ...common,
      method: 'patch',
      path: '/refund-policy',
      summary: 'Change what you promise buyers who have a problem; reports that are open keep their terms',
      body: policyBody,
      answers: { 200: z.object({ refundPolicy: policyOut }) },
      handle: async ({ caller, body }) =>
        reply(200, { refundPolicy: toPolicyOut(await disputes.changePolicy(caller, toPolicy(body))) }),
    }),
  ]
}

import { z } from 'zod'
import { person, router } from '../edge/trpc.ts'
import { toAgent, toApproval, toDecision, toStanding } from './http/bodies.ts'
import { APPROVAL_STATES } from './model.ts'
import type { Spending } from './service.ts'

/** What the dashboard shows of agents, and where a person says yes or no. */
export function spendingRouter({ agents, approvals }: Spending) {
  return router({
    agents: person.input(page).query(async ({ ctx, input }) => {
      const found = await agents.list(ctx.caller, input)
      return { agents: found.agents.map(toAgent), total: found.total }
    }),
    standing: person.input(one).query(async ({ ctx, input }) => {
      const { agent, usage, warnings } = await agents.standing(ctx.caller, input.id)
      return toStanding(agent, usage, warnings)
    }),
    decisions: person.input(page.extend(one.shape)).query(async ({ ctx, input: { id, ...paging } }) => {
      const found = await agents.decisions(ctx.caller, id, { outcome: null, kind: null }, paging)
      return { decisions: found.decisions.map(toDecision), total: found.total }
    }),
    pause: person.input(one.extend({ paused: z.boolean() })).mutation(async ({ ctx, input }) =>
      toAgent(
        await agents.change(ctx.caller, input.id, (agent) => ({
          ...agent,
          status: input.paused ? 'paused' : 'active',
        })),
      ),
    ),
    approvals: person
      .input(page.extend({ status: z.enum(APPROVAL_STATES).optional() }))
      .query(async ({ ctx, input: { status = null, ...paging } }) => {
        const found = await approvals.list(ctx.caller, { state: status, agentId: null }, paging)
        return { approvals: found.approvals.map(toApproval), total: found.total }
      }),
    decide: person
      .input(one.extend({ state: z.enum(['approved', 'refused']) }))
      .mutation(async ({ ctx, input }) => toApproval(await approvals.decide(ctx.caller, input.id, input.state))),
  })
}

const one = z.object({ id: z.string().max(100) })
const page = z.object({
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).max(1_000_000_000).default(0),
})

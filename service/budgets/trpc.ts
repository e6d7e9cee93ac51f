import { z } from 'zod'
import { actKey, asked, keyed, named, paging, person, router } from '../api/trpc.ts'
import { toWire } from '../kit/money.ts'
import { toAgent, toApproval, toDecision, toStanding } from './http/bodies.ts'
import { changedAgent, newAgent, toPolicy } from './http/policy.ts'
import { APPROVAL_STATES, type Agent } from './model.ts'
import type { Budgets } from './service/budgets.ts'

/** The dashboard's procedures for agents, and for approving or refusing calls. */
export function budgetsRouter({ agents, approvals }: Budgets) {
  const shown = (agent: Agent) => toAgent(agent, agents.defaultPerDayOf(agent))
  return router({
    agents: person.input(asked(paging)).query(async ({ ctx, input }) => {
      const found = await agents.list(ctx.caller, input)
      return { agents: found.agents.map(shown), total: found.total }
    }),
    agent: person.input(asked(named)).query(async ({ ctx, input }) => shown(await agents.find(ctx.caller, input.id))),
    createAgent: keyed.input(asked(newAgent.extend(actKey))).mutation(({ ctx, input }) =>
      ctx.once(input, async (operation) => {
        const agent = { name: input.name, status: input.status, policy: toPolicy(input) }
        return shown(await agents.create(ctx.caller, agent, operation))
      }),
    ),
    changeAgent: person
      .input(asked(z.object({ id: named.shape.id, body: changedAgent })))
      .mutation(async ({ ctx, input: { id, body } }) =>
        shown(
          await agents.change(ctx.caller, id, (before) => ({
            ...before,
            name: body.name ?? before.name,
            status: body.status ?? before.status,
            policy: toPolicy(body, before.policy),
          })),
        ),
      ),
    removeAgent: person.input(asked(named)).mutation(async ({ ctx, input }) => {
      await agents.remove(ctx.caller, input.id)
    }),
    standing: person.input(asked(named)).query(async ({ ctx, input }) => {
      const { agent, usage, warnings } = await agents.standing(ctx.caller, input.id)
      return toStanding(agent, usage, warnings)
    }),
    decisions: person.input(asked(paging.extend(named.shape))).query(async ({ ctx, input: { id, ...rest } }) => {
      const found = await agents.decisions(ctx.caller, id, { outcome: null, kind: null }, rest)
      return { decisions: found.decisions.map(toDecision), total: found.total }
    }),
    spent: person
      .input(
        asked(named.extend({ by: z.enum(['day', 'target', 'kind']).default('day'), days: z.int().min(1).max(366) })),
      )
      .query(async ({ ctx, input }) => {
        const rows = await agents.spent(ctx.caller, input.id, input.by, input.days)
        return rows.map(({ key, amount, calls }) => ({ key, amount: toWire(amount), calls }))
      }),
    pause: person.input(asked(named.extend({ paused: z.boolean() }))).mutation(async ({ ctx, input }) =>
      shown(
        await agents.change(ctx.caller, input.id, (agent) => ({
          ...agent,
          status: input.paused ? 'paused' : 'active',
        })),
      ),
    ),
    approvals: person
      .input(asked(paging.extend({ status: z.enum(APPROVAL_STATES).optional() })))
      .query(async ({ ctx, input: { status = null, ...rest } }) => {
        const found = await approvals.list(ctx.caller, { state: status, agentId: null }, rest)
        return { approvals: found.approvals.map(toApproval), total: found.total }
      }),
    decide: person
      .input(asked(named.extend({ state: z.enum(['approved', 'refused']) })))
      .mutation(async ({ ctx, input }) => toApproval(await approvals.decide(ctx.caller, input.id, input.state))),
  })
}

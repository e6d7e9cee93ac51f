import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { toWire } from '../../kit/money.ts'
import { amount, amountOut, page, timestamp } from '../../kit/wire.ts'
import { KINDS, type Agent, type Kind } from '../model.ts'
import type { Agents } from '../service/agents.ts'
import {
  agentBody,
  decisionBody,
  standingBody,
  toAgent,
  toDecision,
  toStanding,
  toVerdict,
  verdictBody,
} from './bodies.ts'
import { changedAgent, newAgent, policyBody, toPolicy } from './policy.ts'

export function agentRoutes(agents: Agents): AnyRoute[] {
  return [...managingRoutes(agents), ...readingRoutes(agents)]
}

const common = { tag: 'Agents', auth: 'person' } as const
const one = z.object({ id: z.string() })
const MISSING = { 404: 'You have no such agent in this environment.' }

function managingRoutes(agents: Agents): AnyRoute[] {
  const shown = (agent: Agent) => toAgent(agent, agents.defaultPerDayOf(agent))
  return [
    route({
      ...common,
      method: 'get',
      path: '/agents',
      summary: 'Your agents in this environment, newest first',
      query: page,
      answers: { 200: z.object({ agents: z.array(agentBody), total: z.int(), limit: z.int(), offset: z.int() }) },
      async handle({ caller, query }) {
        const { agents: found, total } = await agents.list(caller, query)
        return reply(200, { agents: found.map(shown), total, ...query })
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/agents',
      summary: 'Create an agent with its limits; POST /keys creates keys for it',
      idempotent: true,
      body: newAgent,
      answers: { 201: z.object({ agent: agentBody }) },
      async handle({ caller, body, operation }) {
        const input = { name: body.name, status: body.status, policy: toPolicy(body) }
        return reply(201, { agent: shown(await agents.create(caller, input, operation)) })
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/agents/:id',
      summary: 'Get an agent and its rules',
      params: one,
      answers: { 200: z.object({ agent: agentBody }) },
      errors: MISSING,
      handle: async ({ caller, params }) => reply(200, { agent: shown(await agents.find(caller, params.id)) }),
    }),
    route({
      ...common,
      method: 'patch',
      path: '/agents/:id',
      summary: 'Change an agent: omitted fields stay, null removes a rule, status pauses or resumes it',
      params: one,
      body: changedAgent,
      answers: { 200: z.object({ agent: agentBody }) },
      errors: MISSING,
      async handle({ caller, params, body }) {
        const agent = await agents.change(caller, params.id, (before) => ({
          ...before,
          name: body.name ?? before.name,
          status: body.status ?? before.status,
          policy: toPolicy(body, before.policy),
        }))
        return reply(200, { agent: shown(agent) })
      },
    }),
    route({
      ...common,
      method: 'delete',
      path: '/agents/:id',
      summary: 'Remove an agent and revoke its keys',
      params: one,
      answers: { 204: z.undefined() },
      errors: MISSING,
      async handle({ caller, params }) {
        await agents.remove(caller, params.id)
        return reply(204, undefined)
      },
    }),
  ]
}

function readingRoutes(agents: Agents): AnyRoute[] {
  return [
    route({
      ...common,
      method: 'get',
      path: '/agents/:id/policy',
      summary: 'Get what the agent may still spend in each window',
      params: one,
      answers: { 200: standingBody },
      errors: MISSING,
      async handle({ caller, params }) {
        const { agent, usage, warnings } = await agents.standing(caller, params.id)
        return reply(200, toStanding(agent, usage, warnings))
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/agents/:id/check',
      summary: 'Check whether a call would be allowed now, without setting money aside',
      params: one,
      body: checkBody,
      answers: { 200: verdictBody },
      errors: MISSING,
      async handle({ caller, params, body }) {
        const { kind, target, amount, domain } = body
        const expense = { kind, target, alias: null, amount, domain: domain ?? domainOf(kind, target) }
        return reply(200, toVerdict(await agents.check(caller, params.id, expense)))
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/agents/:id/simulate',
      summary: "Which of the last days' calls other rules would have refused",
      params: one,
      body: simulateBody,
      answers: { 200: simulationBody },
      errors: MISSING,
      async handle({ caller, params, body }) {
        const done = await agents.simulate(caller, params.id, toPolicy(body.policy), body.days)
        const { examples, from, ...figures } = done
        const refusals = examples.map(({ decision, verdict }) => ({
          ...toDecision(decision),
          would: toVerdict(verdict),
        }))
        return reply(200, { ...figures, from: from.toISOString(), refusals })
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/agents/:id/decisions',
      summary: 'List decisions about the agent and the rules behind them, newest first',
      params: one,
      query: page.extend({
        outcome: z.enum(['allowed', 'refused', 'held']).optional(),
        kind: z.enum(KINDS).optional(),
      }),
      answers: { 200: z.object({ decisions: z.array(decisionBody), total: z.int(), limit: z.int(), offset: z.int() }) },
      errors: MISSING,
      async handle({ caller, params, query }) {
        const { limit, offset, outcome = null, kind = null } = query
        const found = await agents.decisions(caller, params.id, { outcome, kind }, { limit, offset })
        return reply(200, { decisions: found.decisions.map(toDecision), total: found.total, limit, offset })
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/agents/:id/spending',
      summary: 'Get what the agent has spent, by day, target or kind',
      params: one,
      query: z.object({
        by: z.enum(['day', 'target', 'kind']).default('day'),
        days: z
          .string()
          .regex(/^\d{1,3}$/, 'must be a whole number')
          .transform(Number)
          .refine((days) => days >= 1 && days <= 366, 'must be from 1 to 366')
          .default(30),
      }),
      answers: { 200: spendingBody },
      errors: MISSING,
      async handle({ caller, params, query }) {
        const spent = await agents.spent(caller, params.id, query.by, query.days)
        const rows = spent.map(({ key, amount, calls }) => ({ key, amount: toWire(amount), calls }))
        return reply(200, { by: query.by, days: query.days, spending: rows })
      },
    }),
  ]
}

const checkBody = z.strictObject({
  kind: z.enum(KINDS),
  target: z.string().min(1).max(2048).meta({ description: 'A slug; for kind pay, the address' }),
  amount,
  domain: z.string().max(255).nullish(),
})

const simulateBody = z.strictObject({
  policy: policyBody,
  days: z.int().min(1, 'must be from 1 to 30').max(30, 'must be from 1 to 30').default(30),
})

const simulationBody = z.object({
  calls: z.int(),
  allowed: z.int(),
  refused: z.int(),
  held: z.int(),
  from: timestamp,
  complete: z
    .boolean()
    .meta({ description: 'False when there were more decisions than the `calls` that were checked' }),
  refusals: z.array(decisionBody.extend({ would: verdictBody })).meta({ description: 'The first hundred' }),
})

const spendingBody = z.object({
  by: z.enum(['day', 'target', 'kind']),
  days: z.int(),
  spending: z.array(z.object({ key: z.string(), amount: amountOut, calls: z.int() })),
})

function domainOf(kind: Kind, target: string): string | null {
  return kind === 'pay' && URL.canParse(target) ? new URL(target).host : null
}

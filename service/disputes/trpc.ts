import { z } from 'zod'
import { actKey, asked, keyed, named, paging, person, router } from '../api/trpc.ts'
import { answerBody, policyBody, toDisputeOut, toPolicy, toPolicyOut } from './http/bodies.ts'
import { DISPUTE_STATES } from './model.ts'
import type { Disputes } from './service/disputes.ts'

const listed = paging.extend({ state: z.enum(DISPUTE_STATES).optional() })

/** The dashboard's procedures for disputes. */
export function disputesRouter(disputes: Disputes) {
  return router({
    list: person.input(asked(listed)).query(async ({ ctx, input: { state = null, ...rest } }) => {
      const { disputes: found, total } = await disputes.list(ctx.caller, state, rest)
      return { disputes: found.map(toDisputeOut), total }
    }),
    answer: keyed.input(asked(answerBody.safeExtend({ ...named.shape, ...actKey }))).mutation(({ ctx, input }) =>
      ctx.once(input, async () => {
        const { id, action, amount = null, text = null } = input
        return toDisputeOut(await disputes.answer(ctx.caller, id, { action, amount, text }))
      }),
    ),
    policy: person.query(async ({ ctx }) => toPolicyOut(await disputes.policy(ctx.caller))),
    changePolicy: person
      .input(asked(policyBody))
      .mutation(async ({ ctx, input }) => toPolicyOut(await disputes.changePolicy(ctx.caller, toPolicy(input)))),
  })
}

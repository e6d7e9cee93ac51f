import { asked, named, newOperation, paging, person, router } from '../edge/trpc.ts'
import type { Clock } from '../kit/clock.ts'
import { newKeyBody, toKey, toMe } from './http.ts'
import type { WalletOf } from './ports.ts'
import type { Identity } from './service.ts'

export function identityRouter(identity: Identity, walletOf: WalletOf, clock: Clock) {
  return router({
    me: person.query(({ ctx }) => toMe(ctx.caller, walletOf)),
    keys: router({
      list: person.input(asked(paging)).query(async ({ ctx, input }) => {
        const { keys, total } = await identity.keys.list(ctx.caller, input)
        return { keys: keys.map(toKey), total }
      }),
      create: person.input(asked(newKeyBody)).mutation(async ({ ctx, input }) => {
        const wanted = { name: input.name, agentId: input.agentId ?? null, expiresAt: input.expiresAt ?? null }
        const { key, secret } = await identity.keys.create(ctx.caller, wanted, newOperation(clock))
        return { key: toKey(key), secret }
      }),
      revoke: person.input(asked(named)).mutation(async ({ ctx, input }) => {
        await identity.keys.revoke(ctx.caller, input.id)
      }),
    }),
  })
}

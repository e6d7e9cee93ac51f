import { actKey, asked, keyed, named, paging, person, router, withoutSecret } from '../api/trpc.ts'
import { handleBody, newKeyBody, toKey, toMe } from './http/account.ts'
import type { WalletOf } from './ports.ts'
import type { Identity } from './service/identity.ts'

export function identityRouter(identity: Identity, walletOf: WalletOf) {
  return router({
    me: person.query(({ ctx }) => toMe(ctx.caller, identity, walletOf)),
    setHandle: person
      .input(asked(handleBody))
      .mutation(({ ctx, input }) => identity.setHandle(ctx.caller, input.handle)),
    keys: router({
      list: person.input(asked(paging)).query(async ({ ctx, input }) => {
        const { keys, total } = await identity.keys.list(ctx.caller, input)
        return { keys: keys.map(toKey), total }
      }),
      create: keyed.input(asked(newKeyBody.extend(actKey))).mutation(({ ctx, input }) =>
        ctx.once(
          input,
          async (operation) => {
            const wanted = { name: input.name, agentId: input.agentId ?? null, expiresAt: input.expiresAt ?? null }
            const { key, secret } = await identity.keys.create(ctx.caller, wanted, operation)
            return { key: toKey(key), secret }
          },
          withoutSecret,
        ),
      ),
      revoke: person.input(asked(named)).mutation(async ({ ctx, input }) => {
        await identity.keys.revoke(ctx.caller, input.id)
      }),
    }),
  })
}

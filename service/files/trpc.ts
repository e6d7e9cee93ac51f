import { z } from 'zod'
import { asked, named, paging, person, router } from '../api/trpc.ts'
import { toFileOut } from './http.ts'
import type { Files } from './service.ts'

/** The dashboard's procedures for files. Uploads have an address of their own, since they are no JSON. */
export function filesRouter(files: Files) {
  return router({
    list: person.input(asked(paging)).query(async ({ ctx, input }) => {
      const { files: found, total, bytes } = await files.list(ctx.caller, input)
      const { accountBytesMax, bytesMax } = files.limits
      return { files: found.map((file) => toFileOut(file, files.addressOf)), total, bytes, accountBytesMax, bytesMax }
    }),
    get: person
      .input(asked(named))
      .query(async ({ ctx, input }) => toFileOut(await files.get(ctx.caller, input.id), files.addressOf)),
    delete: person
      .input(asked(named.extend({ soldToo: z.boolean().default(false) })))
      .mutation(({ ctx, input }) => files.delete(ctx.caller, input.id, input)),
  })
}

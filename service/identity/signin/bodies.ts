import { z } from 'zod'

/** What the sign-in's own endpoints take; the reference shows the same. */

export const signedMessage = z.object({ message: z.string().max(4_000), signature: z.string().max(10_000) })

export const connectedAddress = z.object({
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an Ethereum address'),
})

export const emailWanted = z.object({ email: z.string(), password: z.string().max(128).optional() })

export const emailToken = z.object({ token: z.string().max(2_000) })

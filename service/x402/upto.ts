import type { Address, SignedPermit } from '../chain/model.ts'
import type { SponsoredPermit } from './model.ts'
import { tokenPermitExtension, type PermitPayload } from './schema.ts'

/*
 * The scheme `upto`: the payer permits a most, and is charged what was used. Permit2 moves the token, for the facilitator
 * that the permit names alone.
 */

export function permitOf({ signature, permit2Authorization }: PermitPayload): SignedPermit {
  const { from, permitted, spender, nonce, deadline, witness } = permit2Authorization
  return { ...permitted, ...witness, from: from.toLowerCase() as Address, spender, nonce, deadline, signature }
}

/** Null when the extensions have none, or none that can be read. */
export function tokenPermitIn(extensions: Readonly<Record<string, unknown>>): SponsoredPermit | null {
  const parsed = tokenPermitExtension.safeParse(extensions['eip2612GasSponsoring'])
  if (!parsed.success) return null
  const { from, asset, spender, amount: value, deadline, signature } = parsed.data.info
  return { from, asset, spender, value, deadline, signature }
}

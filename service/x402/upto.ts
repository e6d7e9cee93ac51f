import type { Address, SignedPermit } from '../chain/model.ts'
import type { Presented, RequirementsV2, SponsoredPermit, UptoRequirements } from './model.ts'
import { tokenPermitExtension, type PermitPayload } from './schema.ts'

/*
 * The scheme `upto`: the payer permits a most, and is charged what was used. Permit2 moves the token, for the facilitator
 * that the permit names alone.
 */

/** The permit, and its terms as those of every signature. */
export function permittedBy(payload: PermitPayload): Pick<Presented, 'authorization' | 'payer' | 'permit'> {
  const permit = permitOf(payload)
  const { from, to, amount: value, validAfter, deadline: validBefore, nonce: number, signature } = permit
  const nonce = `0x${number.toString(16).padStart(64, '0')}` as const
  const authorization = { from, to, value, validAfter, validBefore, nonce, signature }
  return { authorization, payer: payload.permit2Authorization.from, permit }
}

function permitOf({ signature, permit2Authorization }: PermitPayload): SignedPermit {
  const { from, permitted, spender, nonce, deadline, witness } = permit2Authorization
  return { ...permitted, ...witness, from: from.toLowerCase() as Address, spender, nonce, deadline, signature }
}

/** The same terms by this scheme, for the facilitator that takes what was used. */
export function uptoRequirementsOf({ extra, ...terms }: RequirementsV2, facilitatorAddress: Address): UptoRequirements {
  return { ...terms, scheme: 'upto', extra: { ...extra, assetTransferMethod: 'permit2', facilitatorAddress } }
}

/** In a 402: the payer may sign what lets Permit2 move the token, and the facilitator hands it in. */
export const TOKEN_PERMIT_EXTENSION = { eip2612GasSponsoring: { info: {}, schema: {} } }

/** Null when the extensions have none, or none that can be read. */
export function tokenPermitIn(extensions: Readonly<Record<string, unknown>>): SponsoredPermit | null {
  const parsed = tokenPermitExtension.safeParse(extensions['eip2612GasSponsoring'])
  if (!parsed.success) return null
  const { from, asset, spender, amount: value, deadline, signature } = parsed.data.info
  return { from, asset, spender, value, deadline, signature }
}

import { createHmac } from 'node:crypto'
import { toDecimal } from '../../kit/money.ts'
import type { Identity } from '../model.ts'

/** The header that tells the upstream who paid what; see `docs/paywall.md` for how it is checked. */
export const IDENTITY_HEADER = 'Coinslot-Payment'

/** `v1.<base64url of JSON>.<base64url of an HMAC-SHA256 of what is before it>`. */
export function signedIdentity(identity: Identity, key: Buffer): string {
  const { at, amount, ...rest } = identity
  const said = { ...rest, amount: amount === null ? null : toDecimal(amount), at: Math.floor(at.getTime() / 1000) }
  const text = `v1.${Buffer.from(JSON.stringify(said)).toString('base64url')}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

import { NETWORKS } from '../chain/networks.ts'
import type { Price, Requirements, Resource } from './model.ts'

/**
 * The terms to sign for a payment, in the formats of both versions. `workMs`: work that is longer than what
 * `TIMEOUT_SECONDS` allows for.
 */
export function requirementsOf(price: Price, resource: Resource, outputSchema: object, workMs = 0): Requirements {
  const { name, caip2, usdc } = NETWORKS[price.network]
  const terms = {
    scheme: 'exact',
    payTo: price.recipient,
    // As long as slow work and a slow chain take together, and not much longer, because the authorization stays usable
    // until then.
    maxTimeoutSeconds: TIMEOUT_SECONDS + Math.ceil(workMs / 1_000),
    asset: usdc.checksummed,
    extra: { name: usdc.name, version: usdc.version },
  } as const
  const amount = String(price.amount)
  const { url, description, mimeType } = resource
  return {
    v1: {
      ...terms,
      network: name,
      maxAmountRequired: amount,
      resource: url,
      description,
      mimeType,
      outputSchema: { ...outputSchema },
    },
    v2: { ...terms, network: caip2, amount },
  }
}

/** How long an authorization must still be valid so that it can be settled after the work. */
function coverSeconds(workMs: number): number {
  return Math.ceil(workMs / 1_000) + SETTLING_SECONDS
}

/** Whether the authorization is valid long enough to be settled after the delivery. */
export function outlasts({ validBefore }: { validBefore: bigint }, workMs: number, now: Date): boolean {
  return validBefore >= BigInt(Math.floor(now.getTime() / 1_000) + coverSeconds(workMs))
}

/** For people, with the shortest time that would be enough. */
export function tooShort(workMs: number): string {
  return `The authorization expires too soon: validBefore must be at least ${String(coverSeconds(workMs))} seconds from now, so that it is still valid when the work is done. Sign one that lasts maxTimeoutSeconds.`
}

/**
 * More than the sum of the longest work (120 seconds by the configuration's limits, and 30 for reading the answer), the
 * settlement, and the time that a person needs to confirm the signature.
 */
export const TIMEOUT_SECONDS = 300
const SETTLING_SECONDS = 30

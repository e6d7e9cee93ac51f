import { z } from 'zod'
import type { Challenge } from './challenge.ts'

/** A payment as a client of the Machine Payments Protocol presents it. */
export interface Credential {
  challenge: Challenge
  payload: z.output<typeof payload>
}

/** The credential in an `Authorization` or `Payment-Authorization` header; null when the header holds none. */
export function credentialText(header: string | undefined): string | null {
  return header === undefined ? null : (SCHEME.exec(header)?.[1]?.trim() ?? null)
}

const SCHEME = /^payment(?:[ \t]+(.*))?$/i

/** Decodes a credential. A fault is a path and a reason. */
export function readCredential(json: unknown): { credential: Credential } | { faults: Fault[] } {
  const read = credential.safeParse(json)
  if (read.success) return { credential: { challenge: read.data.challenge, payload: read.data.payload } }
  return { faults: read.error.issues.map(({ path, message }) => [path.join('.'), message] as const) }
}

type Fault = readonly [path: string, why: string]

const parameter = z.string().min(1).max(4_096)
const optional = parameter
  .nullish()
  .transform((value) => value ?? null)
  .default(null)

const challenge = z.object({
  id: parameter,
  realm: parameter,
  method: parameter,
  intent: parameter,
  request: parameter,
  expires: optional,
  digest: optional,
  // `Authorization` is the default, and some clients write it out.
  header: optional.transform((header) => (header?.toLowerCase() === 'authorization' ? null : header)),
  opaque: optional,
})

/** Only the form; the fields are read by the schema of EIP-3009 authorizations. */
const payload = z.looseObject({ type: z.string(), signature: z.unknown() })

const credential = z.object({ challenge, payload })

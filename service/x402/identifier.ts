import { invalid } from '../kit/errors.ts'
import { isRecord } from '../kit/schema/merge.ts'
import type { Presented } from './model.ts'

/*
 * The extension `payment-identifier` of x402 version 2: the client chooses an id for its payment, so that a repeated
 * request cannot become a second purchase. What an id is bound to is decided where sales are made.
 */

const NAME = 'payment-identifier'

/** The declaration in a 402. */
export function identifierExtension(required: boolean) {
  return { [NAME]: { info: { required }, schema: SCHEMA } }
}

/** The id that the client chose; null when it chose none. Throws for one that is malformed, or missing where required. */
export function identifierIn({ field, extensions }: Presented, required: boolean): string | null {
  const extension = extensions[NAME]
  const info = isRecord(extension) ? extension['info'] : undefined
  const id = isRecord(info) ? info['id'] : undefined
  if (typeof id === 'string' && ID.test(id)) return id
  if (id == null && !required) return null
  throw invalid({ [field]: `extensions.${NAME}.info.id ${id == null ? MISSING : MALFORMED}` }, 'invalid_payment')
}

const MALFORMED = 'must have 16 to 128 letters, digits, hyphens or underscores'
const MISSING = 'is required here: choose one, and pay with x402 version 2'

const LENGTH = { minLength: 16, maxLength: 128 } as const
const ID = new RegExp(`^[a-zA-Z0-9_-]{${String(LENGTH.minLength)},${String(LENGTH.maxLength)}}$`)

/** Clients compare it with the schema of the specification. */
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    required: { type: 'boolean' },
    id: { type: 'string', ...LENGTH, pattern: '^[a-zA-Z0-9_-]+$' },
  },
  required: ['required'],
} as const

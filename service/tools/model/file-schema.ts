import type { JsonSchema } from './tool.ts'

/** A file among the inputs: its bytes in the request itself, or the address that they are fetched from. */
export const FILE_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'A file: `url` is fetched, or `base64` holds the bytes',
  properties: {
    url: { type: 'string', maxLength: 2_048, pattern: '^https?://' },
    base64: { type: 'string' },
    name: { type: 'string', minLength: 1, maxLength: 200 },
    contentType: { type: 'string', maxLength: 100, pattern: '^[a-z]+/[A-Za-z0-9.+-]+$' },
  },
  oneOf: [{ required: ['url'] }, { required: ['base64'] }],
  additionalProperties: false,
}

export const FILES_SCHEMA: JsonSchema = { type: 'array', items: FILE_SCHEMA, maxItems: 20 }

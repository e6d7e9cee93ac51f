import { createRequire } from 'node:module'

/** The service's own Ajv: the one at the root belongs to other packages, and is far older. */
const require = createRequire(new URL('../../service/package.json', import.meta.url))
const { Ajv } = require('ajv') as { Ajv: new (options: object) => Checker }
const { default: addFormats } = require('ajv-formats') as { default: (ajv: Checker) => void }

interface Checker {
  compile(schema: unknown): Check
  errorsText(errors: unknown): string
}

interface Check {
  (value: unknown): boolean
  errors?: unknown
}

export function newAjv(): Checker {
  const ajv = new Ajv({ strict: false, addUsedSchema: false, validateSchema: false, code: { optimize: false } })
  addFormats(ajv)
  return ajv
}

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import ajvFormats from 'ajv-formats'
import { parsePattern, PatternBudget } from '../../../kit/pattern.ts'
import { DomainError } from '../../../kit/errors.ts'
import type { Log } from '../../../kit/log.ts'
import type { Tool } from '../../model/tool.ts'
import { faultOfShape } from '../../rules/shape.ts'
import { Recent } from '../../../kit/recent.ts'

// A CommonJS module, whose default is a property of what Node imports.
const { default: addFormats } = ajvFormats

/**
 * Checks an input against a tool's schema. Each version's schema is compiled once, and the least used ones are dropped.
 */
export function createInputCheck(log: Log) {
  const compiled = new Recent<string, ValidateFunction>(COMPILED_MAX)
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    ownProperties: true,
    logger: false,
    validateSchema: false,
    addUsedSchema: false,
    code: { regExp: Object.assign(linear, { code: 'linear' }) },
  })
  // Ajv's own check compares each item with every other.
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    error: { message: 'must not have the same item twice' },
    validate: (wanted: boolean, items: readonly unknown[]) => !wanted || areUnique(items),
  })
  addFormats(ajv)

  function validatorOf(tool: Tool): ValidateFunction {
    const key = `${tool.id} ${String(tool.version)}`
    const known = compiled.get(key)
    if (known !== undefined) return known
    const validate = compile(tool)
    compiled.put(key, validate)
    return validate
  }

  function compile({ id, slug, input }: Tool): ValidateFunction {
    try {
      return ajv.compile(input)
    } catch (error) {
      log.error({ toolId: id, slug, err: error }, 'the input schema of a tool is invalid')
      throw new DomainError(
        'upstream',
        'tool_broken',
        'The input schema of this tool is invalid, so it cannot be called.',
      )
    } finally {
      // Ajv would keep every compiled schema for ever.
      ajv.removeSchema(input)
    }
  }

  return {
    /** Null when the input is valid. Otherwise the faults by field. */
    faultsOf(tool: Tool, input: unknown): Readonly<Record<string, string>> | null {
      if (typeof input !== 'object' || input === null || Array.isArray(input)) return { body: 'must be an object' }
      const misshapen = faultOfShape(input)
      if (misshapen !== null) return misshapen
      const validate = validatorOf(tool)
      // The check is synchronous, so the budget belongs to this input alone.
      budget = new PatternBudget()
      const isRight = validate(input)
      if (isRight && !budget.isSpent) return null
      return isRight ? { body: TOO_MUCH } : detailsOf(validate.errors ?? [], budget.isSpent)
    },
  }
}

/** In linear time: each item is serialised once, with its fields in order. */
function areUnique(items: readonly unknown[]): boolean {
  const seen = new Set(items.map((item) => JSON.stringify(item, inOrder)))
  return seen.size === items.length
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

let budget = new PatternBudget()
const TOO_MUCH = 'has too much text to check against the patterns of this tool: send less'

/**
 * Patterns and texts both come from users and must not block the process. A pattern that cannot be checked in linear
 * time is left to the tool's own server.
 */
function linear(source: string): { test(text: string): boolean; toString(): string } {
  const parsed = parsePattern(`[^]*(?:${source})[^]*`)
  // Ajv knows a pattern by its text: without one of its own, each would be taken for the schema's first.
  const toString = (): string => source
  if (typeof parsed === 'string') return { test: () => true, toString }
  return { test: (text) => text.length > PATTERN_TEXT_MAX || budget.matches(parsed, text) === true, toString }
}

function detailsOf(errors: readonly ErrorObject[], isSpent: boolean): Record<string, string> {
  const details: Record<string, string> = {}
  for (const error of errors) {
    const [field, plain] = faultOf(error)
    const fault = isSpent && error.keyword === 'pattern' ? `${plain}, and be short enough to check against it` : plain
    // The first is the plainest: those after it are often of other branches of the same choice.
    details[field] ??= fault
    if (Object.keys(details).length >= DETAILS_MAX) break
  }
  return details
}

function faultOf({ instancePath, keyword, params, message }: ErrorObject): [field: string, fault: string] {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const detail = params as Record<string, unknown>
  const inner = (name: unknown): string => [...path, String(name)].join('.')
  const own = path.length === 0 ? 'body' : path.join('.')
  switch (keyword) {
    case 'required':
      return [inner(detail['missingProperty']), 'is required']
    case 'additionalProperties':
      return [inner(detail['additionalProperty']), 'is not known']
    case 'enum':
      return [own, `must be one of ${short((detail['allowedValues'] as unknown[]).map(String).join(', '))}`]
    case 'const':
      return [own, `must be ${short(JSON.stringify(detail['allowedValue']))}`]
    case 'type':
      return [own, `must be ${article(String(detail['type']))}`]
    default:
      return [own, message ?? 'is invalid']
  }
}

function article(type: string): string {
  if (type === 'integer') return 'a whole number'
  return /^[aeio]/.test(type) ? `an ${type}` : type === 'null' ? 'null' : `a ${type.replaceAll(',', ' or ')}`
}

function short(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 299)}…`
}

const COMPILED_MAX = 500
const DETAILS_MAX = 20
const PATTERN_TEXT_MAX = 10_000

import { z } from 'zod'
import { invalid } from './errors.ts'
import { nearest } from './nearest.ts'

/** The decoded value, or a 400 error that names each wrong field and what is wrong with it. */
export function decode(schema: z.ZodType, value: unknown, whole: string): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const details: Record<string, string> = {}
  for (const issue of parsed.error.issues) {
    for (const [field, message] of faults(issue, value, whole)) details[field] ??= message
  }
  const unknown = parsed.error.issues.filter((issue) => issue.code === 'unrecognized_keys')
  if (unknown.length === 0) throw invalid(details)
  let first: string | null = null
  for (const { path, key, known } of unknown.flatMap((issue) => unknownKeys(schema, issue)).slice(0, SUGGESTED)) {
    const meant = nearest(key, known)
    if (meant === null) continue
    first ??= meant
    details[[...path, key].join('.')] = `is not known. Did you mean ${meant}?`
  }
  throw invalid(details, 'invalid_input', first === null ? {} : { didYouMean: first })
}

/** A body may have thousands of unknown keys; a person reads only the first few. */
const SUGGESTED = 20

function unknownKeys(schema: z.ZodType, { path, keys }: z.core.$ZodIssueUnrecognizedKeys) {
  const known = keysAt(schema, path)
  return keys.slice(0, SUGGESTED).map((key) => ({ path, key, known }))
}

/** The keys that an object at this path may have; empty where the schema allows several kinds of object. */
function keysAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  const [next, ...rest] = path
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return keysAt(schema.unwrap(), path)
  }
  if (schema instanceof z.ZodPipe) return keysAt(schema.in, path)
  if (schema instanceof z.ZodArray && next !== undefined) return keysAt(schema.element, rest)
  if (schema instanceof z.ZodRecord && next !== undefined) return keysAt(schema.valueType, rest)
  if (!(schema instanceof z.ZodObject)) return []
  const shape = schema.shape as Readonly<Record<PropertyKey, unknown>>
  return next === undefined ? Object.keys(shape) : keysAt(Object.hasOwn(shape, next) ? shape[next] : null, rest)
}

function faults(issue: z.core.$ZodIssue, value: unknown, whole: string): [string, string][] {
  const path = issue.path.map(String)
  const name = path.length === 0 ? whole : path.join('.')
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => [[...path, key].join('.'), 'is not known'])
    case 'invalid_type':
      if (path.length > 0 && at(value, issue.path) === undefined) return [[name, 'is required']]
      if (path.length === 0 && value === undefined) return [[name, 'is required']]
      return [[name, issue.message.startsWith('must') ? issue.message : `must be ${article(issue.expected)}`]]
    case 'invalid_value':
      return [[name, `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`]]
    case 'too_small':
      return [[name, issue.message.startsWith('must') ? issue.message : least(issue)]]
    case 'too_big':
      return [[name, issue.message.startsWith('must') ? issue.message : most(issue)]]
    default:
      return [[name, issue.message]]
  }
}

function least(issue: z.core.$ZodIssueTooSmall): string {
  if (issue.origin === 'string') {
    return Number(issue.minimum) <= 1 ? 'must not be empty' : `must have at least ${String(issue.minimum)} characters`
  }
  if (issue.origin === 'array') return `must have at least ${String(issue.minimum)}`
  return `must be ${issue.inclusive === true ? 'at least' : 'greater than'} ${String(issue.minimum)}`
}

function most(issue: z.core.$ZodIssueTooBig): string {
  if (issue.origin === 'string') return `must have at most ${String(issue.maximum)} characters`
  if (issue.origin === 'array') return `must have at most ${String(issue.maximum)}`
  return `must be ${issue.inclusive === true ? 'at most' : 'less than'} ${String(issue.maximum)}`
}

function article(expected: string): string {
  if (expected === 'int') return 'a whole number'
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  )
}

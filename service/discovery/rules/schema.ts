import { isRecord, type Raw } from '../../kit/schema/merge.ts'

/**
 * Checks a value against a schema, where both come from a stranger. Each step counts against one budget, and
 * references point into the schema alone, so the work has a limit for any input. Keywords that are not known here,
 * patterns among them, are ignored: that is looser than the schema, never stricter. Null when nothing is wrong.
 */
export function faultOf(schema: unknown, value: unknown): string | null {
  try {
    return new Check(schema).fault({ schema, value, path: '', depth: 0 })
  } catch (error) {
    if (error instanceof Unfit) return error.message
    throw error
  }
}

/** Whether a document has a `$ref` or `$id` that points outside of it, or is larger or deeper than a description. */
export function faultOfDocument(document: unknown): string | null {
  let nodes = 0
  const waiting: { node: unknown; depth: number }[] = [{ node: document, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, depth } = next
    if (++nodes > NODES_MAX) return `has more than ${String(NODES_MAX)} values`
    if (depth > DEPTH_MAX) return `is nested deeper than ${String(DEPTH_MAX)} levels`
    if (typeof node === 'string' && CONTROL.test(node)) return 'has control characters'
    if (typeof node !== 'object' || node === null) continue
    for (const [key, part] of Object.entries(node)) {
      if (CONTROL.test(key)) return 'has control characters'
      if (EXTERNAL.has(key) && !Array.isArray(node) && !isInside(part)) return `has an external ${key}`
      waiting.push({ node: part, depth: depth + 1 })
    }
  }
  return null
}

function isInside(reference: unknown): boolean {
  return typeof reference === 'string' && reference.startsWith('#')
}

const NODES_MAX = 4_000
const DEPTH_MAX = 32
/** Line breaks and tabs are part of descriptions. */
const CONTROL = /[^\P{Cc}\n\r\t]/u
const EXTERNAL = new Set(['$ref', '$id', '$dynamicRef', '$recursiveRef'])

class Unfit extends Error {}

interface Step {
  schema: unknown
  value: unknown
  path: string
  depth: number
}

class Check {
  private readonly root: unknown
  private left = STEPS_MAX

  constructor(root: unknown) {
    this.root = root
  }

  fault(step: Step): string | null {
    const { value, path, depth } = step
    if (--this.left < 0 || depth > DEPTH_MAX) throw new Unfit('schema takes too much work to check')
    if (step.schema === true) return null
    if (step.schema === false) return at(path, 'must not be there')
    const schema = this.resolved(step.schema)
    return (
      this.plain(schema, value, path) ??
      (isRecord(value) ? this.fields(schema, { ...step, value }) : null) ??
      (Array.isArray(value) ? this.items(schema, { ...step, value: value as unknown[] }) : null) ??
      this.ways(schema, step)
    )
  }

  private resolved(schema: unknown): Raw {
    let found = schema
    while (isRecord(found) && typeof found['$ref'] === 'string') {
      if (--this.left < 0) throw new Unfit('schema takes too much work to check')
      found = this.pointedAt(found['$ref'])
      if (found === true) return {}
    }
    if (!isRecord(found)) throw new Unfit('schema is not a JSON schema')
    return found
  }

  private pointedAt(pointer: string): unknown {
    let found = this.root
    for (const name of pointer.split('/').slice(1)) {
      this.left--
      const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) {
        throw new Unfit('schema refers to a part that it does not have')
      }
      found = (found as Raw)[key]
    }
    return found
  }

  private plain(schema: Raw, value: unknown, path: string): string | null {
    const types = typesIn(schema)
    if (types !== null && !types.some((type) => isOf(value, type))) return at(path, `must be ${types.join(' or ')}`)
    if ('const' in schema && differs(schema['const'], value)) return at(path, 'must be the constant of the schema')
    const { enum: values } = schema
    if (Array.isArray(values)) {
      this.left -= values.length
      if ((values as unknown[]).every((one) => differs(one, value))) return at(path, 'must be one of the listed values')
    }
    if (typeof value === 'string') return textFault(schema, value, path)
    return typeof value === 'number' ? numberFault(schema, value, path) : null
  }

  private fields(schema: Raw, { value, path, depth }: Step & { value: Raw }): string | null {
    const { properties = {}, required = [], additionalProperties: rest, patternProperties } = schema
    if (!isRecord(properties) || !Array.isArray(required)) throw new Unfit('schema is not a JSON schema')
    for (const name of required as unknown[]) {
      this.left--
      if (typeof name !== 'string') throw new Unfit('schema is not a JSON schema')
      if (!Object.hasOwn(value, name)) return at(`${path}/${name}`, 'is missing')
    }
    for (const [name, part] of Object.entries(value)) {
      const isKnown = Object.hasOwn(properties, name)
      const own = isKnown ? properties[name] : patternProperties === undefined ? rest : undefined
      if (own === undefined) continue
      const fault = this.fault({ schema: own, value: part, path: `${path}/${name}`, depth: depth + 1 })
      if (fault !== null) return fault
    }
    return null
  }

  private items(schema: Raw, { value, path, depth }: Step & { value: readonly unknown[] }): string | null {
    const { items, minItems, maxItems, prefixItems } = schema
    if (typeof minItems === 'number' && value.length < minItems) return at(path, 'has too few items')
    if (typeof maxItems === 'number' && value.length > maxItems) return at(path, 'has too many items')
    if (items === undefined || prefixItems !== undefined) return null
    for (const [place, part] of value.entries()) {
      const fault = this.fault({ schema: items, value: part, path: `${path}/${String(place)}`, depth: depth + 1 })
      if (fault !== null) return fault
    }
    return null
  }

  /** `oneOf` counts as `anyOf`: what is ignored here could make two alternatives fit of which one should not. */
  private ways(schema: Raw, step: Step): string | null {
    const deeper = { ...step, depth: step.depth + 1 }
    const { allOf } = schema
    for (const part of Array.isArray(allOf) ? (allOf as unknown[]) : []) {
      const fault = this.fault({ ...deeper, schema: part })
      if (fault !== null) return fault
    }
    const ways = schema['anyOf'] ?? schema['oneOf']
    if (!Array.isArray(ways) || ways.length === 0) return null
    const fits = (ways as unknown[]).some((way) => this.fault({ ...deeper, schema: way }) === null)
    return fits ? null : at(step.path, 'must fit one of the alternatives')
  }
}

const STEPS_MAX = 6_000

function textFault(schema: Raw, value: string, path: string): string | null {
  const { minLength, maxLength } = schema
  if (typeof minLength === 'number' && value.length < minLength) return at(path, 'is too short')
  // A character may take two units, so the text is counted only where it could be too long.
  if (typeof maxLength === 'number' && value.length > maxLength && Array.from(value).length > maxLength) {
    return at(path, 'is too long')
  }
  return null
}

function numberFault(schema: Raw, value: number, path: string): string | null {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  if (typeof minimum === 'number' && value < minimum) return at(path, 'is too small')
  if (typeof maximum === 'number' && value > maximum) return at(path, 'is too large')
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return at(path, 'is too small')
  return typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum ? at(path, 'is too large') : null
}

function typesIn({ type }: Raw): string[] | null {
  if (type === undefined) return null
  const types: unknown[] = Array.isArray(type) ? type : [type]
  if (!types.every((one) => typeof one === 'string' && TYPES.has(one))) throw new Unfit('schema is not a JSON schema')
  return types as string[]
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

function isOf(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  // A number that JavaScript cannot hold exactly is an object of its own class.
  if (value instanceof Number) return type === 'number' || (type === 'integer' && Number.isInteger(Number(value)))
  if (type === 'object') return isRecord(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

/** Only plain values are compared: objects count as equal, because comparing them has no small bound. */
function differs(one: unknown, other: unknown): boolean {
  const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null
  return isPlain(one) || isPlain(other) ? one !== other : false
}

function at(path: string, fault: string): string {
  return `${path === '' ? 'info' : `info${path.slice(0, PATH_MAX)}`} ${fault}`
}

const PATH_MAX = 120

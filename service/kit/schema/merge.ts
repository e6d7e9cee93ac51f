/** A schema as a document has it: anything at all. */
export type Raw = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Merges a schema's `allOf` into the schema itself. The result is shorter, and it can be closed to unknown fields: an
 * `allOf` of closed objects would accept nothing.
 */
export function flattened(schema: Raw, budget = { parts: PARTS_MAX, fields: FIELDS_MAX }): Raw {
  const { allOf, ...own } = schema
  if (!Array.isArray(allOf)) return own
  // Parts may be nested, and the same parts may occur many times. Those beyond the limit are left out, which only
  // loosens the schema.
  const taken = allOf.filter(isRecord).filter((part) => isWithin(budget, part))
  const parts = taken.map((part) => flattened(part, budget))
  const merged = parts.reduce(merge, own)
  if ('nullable' in own) return { ...merged, nullable: own['nullable'] }
  return { ...merged, nullable: parts.length > 0 && parts.every((part) => part['nullable'] === true) }
}

/** Parts with very many fields would be copied once for each part beside them. */
function isWithin(budget: { parts: number; fields: number }, { properties }: Raw): boolean {
  budget.fields -= isRecord(properties) ? Object.keys(properties).length : 0
  return budget.parts-- > 0 && budget.fields > 0
}

const PARTS_MAX = 200
const FIELDS_MAX = 5_000

function merge(one: Raw, other: Raw): Raw {
  const merged: Record<string, unknown> = { ...other, ...one }
  for (const [key, join] of Object.entries(JOINS)) {
    if (key in one && key in other) merged[key] = join(one[key], other[key])
  }
  return merged
}

/**
 * Joins two values of a keyword that must both hold. When one keyword cannot express both, the first one is used: the
 * schema is then looser, but never wrong.
 */
const JOINS: Readonly<Record<string, (one: unknown, other: unknown) => unknown>> = {
  properties: (one, other) => (isRecord(one) && isRecord(other) ? joinProperties(one, other) : one),
  required: (one, other) => [...new Set([...listOf(one), ...listOf(other)])],
  enum: (one, other) => {
    const both = listOf(one).filter((value) => listOf(other).includes(value))
    return both.length === 0 ? one : both
  },
  type: (one, other) => {
    const both = listOf(one).filter((type) => listOf(other).includes(type))
    return both.length === 0 ? one : both
  },
  minimum: (one, other) => Math.max(Number(one), Number(other)),
  maximum: (one, other) => Math.min(Number(one), Number(other)),
  minLength: (one, other) => Math.max(Number(one), Number(other)),
  maxLength: (one, other) => Math.min(Number(one), Number(other)),
  minItems: (one, other) => Math.max(Number(one), Number(other)),
  maxItems: (one, other) => Math.min(Number(one), Number(other)),
}

function joinProperties(one: Raw, other: Raw): Raw {
  const joined: Record<string, unknown> = { ...one }
  for (const [name, schema] of Object.entries(other)) {
    const before = joined[name]
    joined[name] =
      isRecord(before) && isRecord(schema) && before !== schema ? { allOf: [before, schema] } : (before ?? schema)
  }
  return joined
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value]
}

/** A schema as a document has it: anything at all. */
export type Raw = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * A schema with its `allOf` taken into itself. Documents say "this and also that" by it; the same in one object is
 * shorter to read, and can be closed to what is unknown, which an `allOf` of closed objects never fits.
 */
export function flattened(schema: Raw, budget = { parts: PARTS_MAX }): Raw {
  const { allOf, ...own } = schema
  if (!Array.isArray(allOf)) return own
  // Parts have parts, and may be the same ones over and over: what is too much is left out, which asks less.
  const taken = allOf.filter(isRecord).filter(() => budget.parts-- > 0)
  const parts = taken.map((part) => flattened(part, budget))
  const merged = parts.reduce(merge, own)
  if ('nullable' in own) return { ...merged, nullable: own['nullable'] }
  return { ...merged, nullable: parts.length > 0 && parts.every((part) => part['nullable'] === true) }
}

const PARTS_MAX = 200

function merge(one: Raw, other: Raw): Raw {
  const merged: Record<string, unknown> = { ...other, ...one }
  for (const [key, join] of Object.entries(JOINS)) {
    if (key in one && key in other) merged[key] = join(one[key], other[key])
  }
  return merged
}

/** Both are to hold. Where one keyword cannot express that the first one's holds: less is asked, nothing wrong is. */
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

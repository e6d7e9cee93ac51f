import fc, { type Arbitrary } from 'fast-check'
import { nastyValue, type Text } from './values.ts'

/** As the service's own document says it; what is not known here is taken as anything. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  items?: Schema | false
  minimum?: number
  maximum?: number
  minItems?: number
  format?: string
  examples?: readonly unknown[]
}

/**
 * Bodies that come close: from the schema, and then wrong in a few places. One that is whole gets as far as the
 * rules; one that is wrong everywhere would be turned away at the door each time.
 */
export function bodies(
  schema: Schema,
  defs: Readonly<Record<string, Schema>>,
  ids: readonly string[],
): Arbitrary<Text> {
  const nasty = nastyValue(ids)
  const whole = from(schema, 0)
  return fc.oneof({ weight: 12, arbitrary: whole }, { weight: 1, arbitrary: nasty })

  function from(part: Schema, depth: number): Arbitrary<Text> {
    const good = wellFormed(resolved(part), depth)
    // Deep inside as often as at the top: most of a body stays as it should be.
    return fc.oneof({ weight: 20, arbitrary: good }, { weight: 1, arbitrary: nasty })
  }

  function wellFormed(of: Schema, depth: number): Arbitrary<Text> {
    if (depth > 6) return fc.constant('null')
    if (of.const !== undefined) return fc.constant(JSON.stringify(of.const))
    if (of.enum !== undefined && of.enum.length > 0)
      return fc.constantFrom(...of.enum.map((one) => JSON.stringify(one)))
    const choices = of.anyOf ?? of.oneOf
    if (choices !== undefined && choices.length > 0) return fc.oneof(...choices.map((one) => from(one, depth + 1)))
    if (of.allOf !== undefined && of.allOf.length > 0) return from(of.allOf[0]!, depth)
    const [type] = Array.isArray(of.type) ? of.type : [of.type]
    switch (type) {
      case 'object':
        return object(of, depth)
      case 'array':
        return fc
          .array(of.items === undefined || of.items === false ? nasty : from(of.items, depth + 1), {
            minLength: Math.min(of.minItems ?? 0, 2),
            maxLength: 3,
          })
          .map((items) => `[${items.join(',')}]`)
      case 'number':
      case 'integer':
        return number(of, type === 'integer')
      case 'boolean':
        return fc.constantFrom('true', 'false')
      case 'string':
        return string(of)
      case 'null':
        return fc.constant('null')
      default:
        return fc.oneof(
          fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
          nasty,
        )
    }
  }

  function object({ properties = {}, required = [] }: Schema, depth: number): Arbitrary<Text> {
    const entries = Object.entries(properties)
    const fields = entries.map(([name, schema]) => {
      const value = from(schema, depth + 1).map((text) => `${JSON.stringify(name)}:${text}`)
      const leftOut = required.includes(name) ? 24 : 1
      return fc.oneof({ weight: leftOut, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })
    })
    const more = fc.oneof(
      { weight: 10, arbitrary: fc.constant(null) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom(...KEYS, ...entries.map(([name]) => name)), nasty)
          .map(([name, value]) => `${JSON.stringify(name)}:${value}`),
      },
    )
    return fc.tuple(...fields, more).map((parts) => `{${parts.filter((part) => part !== null).join(',')}}`)
  }

  function number({ minimum, maximum }: Schema, whole: boolean): Arbitrary<Text> {
    const [min, max] = [Math.max(minimum ?? 0, -1e9), Math.min(maximum ?? 1e4, 1e9)]
    const edges = [min, max, min - 1, max + 1, 0, 1, 0.01].map(String)
    return fc.oneof(
      fc.constantFrom(...edges),
      whole || min > max
        ? fc.integer({ min: -5, max: 200 }).map(String)
        : fc.integer({ min: 0, max: 5_000 }).map((n) => String(n / 1000)),
    )
  }

  function string({ format, examples }: Schema): Arbitrary<Text> {
    const texts = (examples ?? []).map((one) => JSON.stringify(one))
    const usual = [
      '"a"',
      '"some-slug"',
      '"http://127.0.0.1:9/x"',
      '"GET"',
      '"POST"',
      '"text"',
      '"base-sepolia"',
      `"0x${'22'.repeat(20)}"`,
    ]
    const dated = format === 'date-time' ? ['"2027-01-31T12:00:00Z"'] : []
    return fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...texts, ...dated, ...usual) },
      { weight: 1, arbitrary: fc.constantFrom(...ids).map((id) => JSON.stringify(id)) },
      { weight: 1, arbitrary: fc.string({ maxLength: 20 }).map((text) => JSON.stringify(text)) },
    )
  }

  function resolved(of: Schema): Schema {
    const name = of.$ref?.split('/').at(-1)
    return name === undefined ? of : (defs[name] ?? {})
  }
}

const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'then',
  'toJSON',
  'unknown',
  '',
  '\u0000',
  '0',
  'length',
]

import fc from 'fast-check'
import { faultOf, faultOfDocument } from '../../service/discovery/rules/schema.ts'
import { readJson } from '../../service/kit/json.ts'

const SEED = Number(process.env['SEED'] ?? 20_261_123)

describe('a schema from another server', () => {
  const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

  test.each<[string, unknown, unknown, string | null]>([
    ['nothing to say', {}, { a: 1 }, null],
    ['a type', { type: 'string' }, 5, 'info must be string'],
    ['types', { type: ['string', 'null'] }, null, null],
    ['an integer', object({ a: { type: 'integer' } }), { a: 1.5 }, 'info/a must be integer'],
    ['what is required', object({}, { required: ['a'] }), {}, 'info/a is missing'],
    ['a required name of the prototype', object({}, { required: ['toString'] }), {}, 'info/toString is missing'],
    ['no other fields', object({}, { additionalProperties: false }), { a: 1 }, 'info/a must not be there'],
    [
      'other fields by schema',
      object({}, { additionalProperties: { type: 'number' } }),
      { a: 'x' },
      'info/a must be number',
    ],
    ['a constant', object({ a: { const: 'http' } }), { a: 'mcp' }, 'info/a must be the constant of the schema'],
    ['a list of values', object({ a: { enum: ['GET'] } }), { a: 'POST' }, 'info/a must be one of the listed values'],
    ['a length', { type: 'string', maxLength: 2 }, 'abc', 'info is too long'],
    ['characters of two units', { type: 'string', maxLength: 2 }, '😀😀', null],
    ['a bound', { type: 'number', minimum: 2 }, 1, 'info is too small'],
    ['items', { type: 'array', items: { type: 'string' } }, ['a', 1], 'info/1 must be string'],
    ['alternatives', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 5, 'info must fit one of the alternatives'],
    ['all of them', { allOf: [{ type: 'object' }, { required: ['a'] }] }, {}, 'info/a is missing'],
    ['a reference inside', { $defs: { a: { type: 'string' } }, $ref: '#/$defs/a' }, 5, 'info must be string'],
    ['a reference to nothing', { $ref: '#/$defs/a' }, 5, 'schema refers to a part that it does not have'],
    ['a reference to itself', { $ref: '#' }, 5, 'schema takes too much work to check'],
    ['no type at all', { type: 5 }, 5, 'schema is not a JSON schema'],
    ['no schema at all', 'string', 5, 'schema is not a JSON schema'],
    ['false', false, 5, 'info must not be there'],
    ['an unknown keyword', { pattern: '^(a+)+$', format: 'card' }, 'a'.repeat(50), null],
  ])('%s', (_name, schema, value, fault) => {
    expect(faultOf(schema, value)).toBe(fault)
  })

  test('refuses a number of forty thousand digits before parsing, and accepts a long one', () => {
    expect(() => readJson(`{"a":${'9'.repeat(40_000)}}`)).toThrow()
    const value = readJson(`{"a":${'9'.repeat(1_000)},"b":1.00000000000000000001}`)
    expect(faultOf(object({ a: { type: 'number' }, b: { type: 'number' } }), value)).toBeNull()
    expect(faultOf(object({ a: { type: 'string' } }), value)).toBe('info/a must be string')
  })

  test('is rejected early where references and alternatives multiply', () => {
    const $defs: Record<string, unknown> = { d0: { type: 'string' } }
    for (let nth = 1; nth < 30; nth++) {
      const half = { $ref: `#/$defs/d${String(nth - 1)}` }
      $defs[`d${String(nth)}`] = { allOf: [half, half], anyOf: [{ type: 'null' }, half] }
    }
    expect(faultOf({ $defs, $ref: '#/$defs/d29' }, 'text')).toBe('schema takes too much work to check')
  })

  test.each<[string, unknown, string | null]>([
    ['a plain document', { a: [1, { $ref: '#/b' }] }, null],
    ['a reference to elsewhere', { a: { $ref: 'https://evil.example/x' } }, 'has an external $ref'],
    ['a file', { a: [{ $ref: 'file:///etc/passwd' }] }, 'has an external $ref'],
    ['an id', { $id: 'https://evil.example/x' }, 'has an external $id'],
    ['a reference that is no text', { $ref: {} }, 'has an external $ref'],
    ['control characters', { a: 'x\u0000y' }, 'has control characters'],
    ['control characters in a name', { 'a\u001b[2J': 1 }, 'has control characters'],
    ['lines', { a: 'one\n\ttwo' }, null],
    ['many values', Array.from({ length: 5_000 }, () => 1), 'has more than 4000 values'],
  ])('looks through %s', (_name, document, fault) => {
    expect(faultOfDocument(document)).toBe(fault)
  })

  test('is checked to the depth of the deepest readable document', () => {
    let deep: unknown = 1
    for (let nth = 0; nth < 100_000; nth++) deep = [deep]
    expect(faultOfDocument(deep)).toBe('is nested deeper than 32 levels')
  })

  test('never throws, for any schema and value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.jsonValue({ maxDepth: 6 }), (schema, value) => {
        expect([null, expect.any(String)]).toContainEqual(faultOf(schema, value))
        expect(faultOfDocument(schema) ?? '').toEqual(expect.any(String))
      }),
      { seed: SEED, numRuns: 500 },
    )
  })
})

import fc from 'fast-check'
import { faultOf } from '../../service/discovery/rules/schema.ts'
import { offeredRoute } from '../../service/paywall/rules/x402.ts'
import { bazaarOf } from '../../service/x402/bazaar.ts'

const SEED = Number(process.env['SEED'] ?? 20_261_123)

describe('extensions.bazaar', () => {
  const posted = (bodyFields: object, more: object = {}) =>
    bazaarOf({ input: { type: 'http', method: 'POST', bodyType: 'json', bodyFields, ...more } })

  test('has an example with every required field, and the schema of all', () => {
    const email = { type: 'string', format: 'email', required: true, description: 'Where to' }
    expect(
      posted({
        email,
        count: { type: 'number', required: false },
        plan: { type: 'string', required: true, enum: ['a', 'b'] },
      }),
    ).toEqual({
      info: {
        input: { type: 'http', method: 'POST', bodyType: 'json', body: { email: 'ada@example.com', plan: 'a' } },
      },
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          input: {
            type: 'object',
            properties: {
              type: { type: 'string', const: 'http' },
              method: { type: 'string', enum: ['POST'] },
              bodyType: { type: 'string', enum: ['json'] },
              body: {
                type: 'object',
                properties: {
                  email: { type: 'string', description: 'Where to', format: 'email' },
                  count: { type: 'number' },
                  plan: { type: 'string', enum: ['a', 'b'] },
                },
                required: ['email', 'plan'],
              },
            },
            required: ['type', 'method', 'bodyType', 'body'],
            additionalProperties: false,
          },
        },
        required: ['input'],
      },
    })
  })

  test('accepts required names beside the fields, as in a JSON schema', () => {
    const bazaar = posted({ a: { type: 'string' }, b: { type: 'integer' } }, { required: ['b'] })
    expect(bazaar?.info.input['body']).toEqual({ b: 1 })
  })

  test('has query parameters for a request without a body', () => {
    expect(bazaarOf({ input: { type: 'http', method: 'get' }, routeTemplate: '/a/:b' })).toMatchObject({
      info: { input: { type: 'http', method: 'GET', queryParams: {} } },
      routeTemplate: '/a/:b',
    })
  })

  test('requires nothing where no example can be made up', () => {
    const bazaar = posted({ code: { type: 'string', pattern: '^[A-Z]{3}$' } }, { required: ['code'] })
    expect(bazaar?.info.input['body']).toEqual({})
    expect(JSON.stringify(bazaar?.schema)).not.toContain('"required":["code"]')
  })

  test('is short enough for a header, for an input schema of any size', () => {
    const fields = Object.fromEntries(
      Array.from({ length: 500 }, (_, nth) => [
        `field${String(nth)}`,
        { type: 'string', description: 'x'.repeat(200) },
      ]),
    )
    for (const count of [5, 50, 500]) {
      const some = Object.fromEntries(Object.entries(fields).slice(0, count))
      expect(JSON.stringify(posted(some)).length).toBeLessThan(3_000)
    }
  })

  test.each([{}, { input: 'text' }, { input: { type: 'mcp' } }, { input: { type: 'http', method: 'OPTIONS' } }])(
    'is left out for %j',
    (described) => {
      expect(bazaarOf(described)).toBeNull()
    },
  )

  test.each([
    ['https://a.example/gate/news', '/today', null],
    ['https://a.example/gate/news', '/items/:id', '/gate/news/items/:id'],
    ['https://a.example/gate/news/', '/*', '/gate/news/:var1'],
    ['https://a.example/', '/*', null],
    ['https://a.example/', '/:id', null],
    ['https://a.example', '/files*', null],
  ])('names the route of a paywall at %s with %s by %s', (address, path, template) => {
    expect(offeredRoute(address, { path }, 'GET')).toEqual({ method: 'GET', template })
  })

  test('always fits its own schema', () => {
    const leaf = fc.oneof(
      fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object') }),
      fc.record({ type: fc.constant('string'), minLength: fc.nat(9), maxLength: fc.nat(9) }),
      fc.record({
        type: fc.constant('integer'),
        minimum: fc.integer({ min: -9, max: 9 }),
        maximum: fc.integer({ min: -9, max: 9 }),
      }),
      fc.record({ type: fc.constant('number'), exclusiveMinimum: fc.integer({ min: -9, max: 9 }) }),
      fc.record({
        type: fc.constant('string'),
        default: fc.string(),
        examples: fc.array(fc.string(), { maxLength: 2 }),
      }),
      fc.record({ type: fc.constant('string'), format: fc.constantFrom('email', 'uri', 'ipv4', 'other') }),
      fc.record({ enum: fc.array(fc.jsonValue({ maxDepth: 0 }), { maxLength: 3 }) }),
      fc.record({ anyOf: fc.constant([{ type: 'string' }, { type: 'null' }]) }),
      fc.jsonValue({ maxDepth: 3 }),
    )
    const { fields } = fc.letrec<{ fields: Record<string, unknown>; nested: unknown }>((tie) => ({
      fields: fc.dictionary(fc.string({ maxLength: 6 }), fc.oneof({ depthSize: 'small' }, leaf, tie('nested')), {
        maxKeys: 5,
      }),
      nested: fc.record({
        type: fc.constant('object'),
        properties: tie('fields'),
        required: fc.array(fc.string({ maxLength: 6 }), { maxLength: 2 }),
      }),
    }))
    fc.assert(
      fc.property(fields, fc.nat(), (bodyFields, pick) => {
        const names = Object.keys(bodyFields)
        const bazaar = posted(bodyFields, { required: names.filter((_, nth) => ((pick >> nth) & 1) === 1) })
        expect(faultOf(bazaar?.schema, bazaar?.info)).toBeNull()
      }),
      { seed: SEED, numRuns: 400 },
    )
  })
})

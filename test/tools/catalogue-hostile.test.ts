import fc from 'fast-check'
import { createDocuments } from '../../service/openapi/documents.ts'
import { DomainError } from '../../service/kit/errors.ts'
import type { ReadOptions } from '../../service/tools/ports/sources.ts'
import { newAjv } from './ajv.ts'
import { catalogueWorld, importRequest, type CatalogueWorld } from './catalogue-world.ts'
import { answered, operation, PETS, petDocument } from './documents.ts'
import { chainOf, readHere } from './large-documents.ts'

const PLAIN: ReadOptions = { base: null, server: null, auth: null, trusted: false }
const ANN = 'usr_01arz3ndektsv4rrffq69g5fav' as const

function withBody(schema: unknown, other: Record<string, unknown> = {}): string {
  const requestBody = { content: { 'application/json': { schema } } }
  return petDocument({ '/a': { post: operation('a', { requestBody }) } }, other)
}

function nested(levels: number): string {
  return withBody('DEEP').replace('"DEEP"', `${'{"items":'.repeat(levels)}{}${'}'.repeat(levels)}`)
}

describe('A hostile document', () => {
  let world: CatalogueWorld
  beforeAll(async () => {
    world = await catalogueWorld({ allowPrivate: false })
  })
  afterAll(() => world.close())

  async function rows(): Promise<unknown> {
    return await world.database.statements.run(
      'SELECT (SELECT count(*) FROM tool) AS tools, (SELECT count(*) FROM tool_provider) AS providers',
      [],
    )
  }

  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, nth) => [`/p${String(nth)}`, { get: {} }]))
  const bomb = Array.from(
    { length: 40 },
    (_, nth) => `  - &a${String(nth + 1)} [*a${String(nth)}, *a${String(nth)}, *a${String(nth)}]`,
  )
  const at = (url: string) => petDocument(PETS, { servers: [{ url }] })

  test.each<[string, () => string, RegExp]>([
    ['more than 10 MB', () => petDocument() + ' '.repeat(10_000_001), /longer than 10000000 characters/],
    ['100,000 operations', () => petDocument(many), /#\/paths has more than 10000 operations/],
    [
      'schemas within schemas',
      () => nested(200),
      /#\/paths\/~1a\/post\/requestBody\/.*nested more than 150 levels deep/,
    ],
    ['200,000 levels', () => nested(200_000), /nested more than 150 levels deep/],
    ['200,000 levels of YAML', () => `openapi: 3.0.0\npaths: ${'['.repeat(200_000)}`, /neither JSON nor YAML.*nesting/],
    [
      'another’s schema',
      () => withBody({ $ref: 'https://x.example/s.json' }),
      /schema refers to another document, "https:\/\/x/,
    ],
    [
      'a file’s schema',
      () => withBody({ $ref: 'file:///etc/passwd#/x' }),
      /#\/paths\/~1a\/post.*nothing outside is read/,
    ],
    [
      'a path elsewhere',
      () => petDocument({ '/a': { $ref: '../a.yaml' } }),
      /#\/paths\/~1a refers to another document/,
    ],
    [
      'only references that go round',
      () => petDocument({ '/a': { $ref: '#/paths/~1b' }, '/b': { $ref: '#/paths/~1a' } }),
      /not in the document/,
    ],
    ['paths that are a list', () => petDocument([] as never), /#\/paths must be an object/],
    ['operations that are texts', () => petDocument({ '/a': { get: 'x' } }), /#\/paths\/~1a\/get must be an object/],
    [
      'invalid parameters',
      () => petDocument({ '/a': { get: operation('a', { parameters: { a: 1 } }) } }),
      /#\/paths\/~1a\/get\/parameters must be a list/,
    ],
    [
      'an invalid parameter',
      () => petDocument({ '/a': { get: operation('a', { parameters: ['x'] }) } }),
      /get\/parameters\/0 must be an object/,
    ],
    [
      'a lost parameter',
      () => petDocument({ '/a': { get: operation('a', { parameters: [{ $ref: '#/x' }] }) } }),
      /parameters\/0 refers to #\/x, which is not/,
    ],
    [
      'an invalid body',
      () => petDocument({ '/a': { post: operation('a', { requestBody: 7 }) } }),
      /#\/paths\/~1a\/post\/requestBody must be an object/,
    ],
    ['a server on loopback', () => at('http://127.0.0.1:6379'), /127\.0\.0\.1:6379 cannot be called/],
    ['a server on a private network', () => at('https://10.1.2.3/api'), /10\.1\.2\.3 cannot be called/],
    ['a server that is link-local', () => at('http://169.254.169.254/latest'), /169\.254\.169\.254 cannot be called/],
    ['a server of IPv6 loopback', () => at('http://[::1]/'), /cannot be called/],
    ['another way to write loopback', () => at('http://0x7f.1/'), /cannot be called/],
  ])('with %s is refused in a sentence that says where, and nothing is stored', async (_, text, sentence) => {
    const before = await rows()
    const importing = world.catalogue.importDocument(importRequest('bad', { ownerId: ANN, simulated: false }), text())
    await expect(importing).rejects.toMatchObject({ kind: 'invalid', message: expect.stringMatching(sentence) })
    expect(await rows()).toEqual(before)
  })

  test('with a YAML bomb is read in no time, because an alias is one part', async () => {
    const text = [
      'openapi: 3.0.0',
      'servers: [{url: "https://y.example"}]',
      'x-bomb:',
      '  - &a0 {type: object}',
      ...bomb,
      'paths: {/a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {properties: {a: {enum: *a40}}}}}}}}}',
    ].join('\n')
    const { operations } = await createDocuments({ limitMs: 10_000 }).read(text, PLAIN)
    expect(operations.map(({ input }) => input['properties'])).toEqual([{ a: {} }])
  })

  test('with names of prototypes, a slow expression, huge lists and bytes that no database takes loses only those', async () => {
    const properties = JSON.parse(
      '{"__proto__": {"type": "string"}, "constructor": {"type": "string"}, "a\\u0000b": {"type": "string"}}',
    ) as Record<string, unknown>
    const schema = {
      properties: {
        ...properties,
        slow: { type: 'string', pattern: '^(a+)+$' },
        looking: { type: 'string', pattern: '(?=a)(a|a)*$' },
        many: { type: 'string', enum: Array.from({ length: 100_000 }, (_, nth) => String(nth)) },
        odd: { type: 'string', enum: ['\u0000', '\ud800'], default: '\udfff' },
        long: { type: 'string', description: '🙂'.repeat(500) },
      },
    }
    const report = await world.catalogue.importDocument(importRequest('odd'), withBody(schema))
    expect(report.added).toEqual(['odd-a'])
    const { input } = await world.catalogue.bySlug('sandbox', 'odd-a', null)
    const fields = input['properties'] as Record<string, Record<string, unknown>>
    expect(Object.keys(fields).sort()).toEqual(['a_b', 'constructor', 'long', 'looking', 'many', 'odd', 'slow'])
    expect([fields['many'], fields['looking']]).toEqual([{ type: 'string' }, { type: 'string' }])
    // It is matched in linear time by `kit/pattern`.
    expect(fields['slow']).toEqual({ type: 'string', pattern: '^(a+)+$' })
    expect(({} as Record<string, unknown>)['type']).toBeUndefined()
  })

  test('with a long chain of references ends in a result or a refusal, not in a crash', async () => {
    const outcome = await createDocuments()
      .read(chainOf(100_000 / 4), PLAIN)
      .catch((error: unknown) => error)
    if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'document_refused' })
  })

  describe('made of a good one', () => {
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    const parameters = [
      { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1 } },
      { $ref: '#/components/parameters/id' },
    ]
    const GOOD = petDocument(
      {
        ...PETS,
        '/orders/{id}': {
          parameters,
          put: operation('putOrder', {
            security: [{ key: [] }],
            requestBody: {
              content: { 'application/json': { schema: { allOf: [ref('Order'), { required: ['at'] }] } } },
            },
            responses: answered(ref('Order')),
          }),
        },
      },
      {
        components: {
          schemas: {
            Order: {
              type: 'object',
              properties: { at: { type: 'string', format: 'date' }, lines: { type: 'array', items: ref('Line') } },
            },
            Line: { oneOf: [{ type: 'string', enum: ['a', 'b'] }, ref('Order')], nullable: true },
          },
          parameters: { id: { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^a+$' } } },
          securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
        },
      },
    )
    const SWAGGER = JSON.stringify({
      ...{ swagger: '2.0', info: { title: 'Old', version: '1' }, host: 'api.old.example', basePath: '/v1' },
      ...{ schemes: ['https'], consumes: ['application/json'], produces: ['application/json'] },
      paths: {
        '/things': {
          parameters: [
            { name: 'tags', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' },
          ],
          post: {
            operationId: 'addThing',
            parameters: [{ name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/Thing' } }],
            responses: { 201: { schema: { $ref: '#/definitions/Thing' } } },
          },
        },
        '/files': {
          post: { consumes: ['multipart/form-data'], parameters: [{ name: 'file', in: 'formData', type: 'file' }] },
        },
      },
      definitions: {
        Thing: { type: 'object', properties: { name: { type: 'string' }, in: { $ref: '#/definitions/Thing' } } },
      },
      securityDefinitions: { login: { type: 'oauth2', flow: 'accessCode', authorizationUrl: 'https://x.example/a' } },
    })
    const ODD: readonly unknown[] = [
      ...[null, true, 0, -1, 1e308, '', '\u0000', 'a\ud800', 'x'.repeat(5_000), [], [[]], {}, [null], [1, 'a', {}]],
      ...[{ $ref: '#' }, { $ref: '#/paths' }, { $ref: '#/nowhere' }, { $ref: '#/components/schemas/Order', type: 4 }],
      ...[{ $ref: 'http://x.example/a' }, { $ref: 7 }, JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}')],
      ...[
        { type: ['object', 5] },
        { allOf: [7, {}] },
        { properties: 5 },
        { enum: {} },
        { required: 'x', properties: {} },
      ],
    ]

    function mutated(text: string, changes: readonly (readonly [number, number])[]): string {
      const document = JSON.parse(text) as Record<string, unknown>
      for (const [which, what] of changes) {
        const places: [Record<string, unknown>, string][] = []
        const open: unknown[] = [document]
        for (let node = open.pop(); node !== undefined; node = open.pop()) {
          if (typeof node !== 'object' || node === null) continue
          for (const key of Object.keys(node)) {
            places.push([node as Record<string, unknown>, key])
            open.push((node as Record<string, unknown>)[key])
          }
        }
        const [node, key] = places[which % places.length] ?? [document, 'paths']
        if (what % (ODD.length + 2) === ODD.length) Reflect.deleteProperty(node, key)
        else if (what % (ODD.length + 2) > ODD.length) node[key] = structuredClone(places[what % places.length]?.[0])
        else node[key] = structuredClone(ODD[what % (ODD.length + 2)])
      }
      return JSON.stringify(document)
    }

    const mutations = fc.tuple(
      fc.constantFrom(GOOD, SWAGGER),
      fc.array(fc.tuple(fc.nat(100_000), fc.nat(100_000)), { minLength: 1, maxLength: 4 }),
    )

    test('by 2,000 random changes is read or refused with a reason, and its tools can be stored and checked', () => {
      let [read, refused, looked] = [0, 0, 0]
      fc.assert(
        fc.property(mutations, ([good, changes]) => {
          const result = readHere(mutated(good, changes))
          if (typeof result === 'string') {
            refused++
            expect(result).toMatch(/\S \S/)
            return
          }
          read++
          expect(JSON.stringify(result)).not.toMatch(/\\u0000|\\ud[89a-f]/)
          for (const found of result) {
            if ('why' in found) expect(found.why).toMatch(/\S \S/)
            else if (++looked % 10 === 0) newAjv().compile(found.input)
          }
        }),
        { numRuns: 2_000 },
      )
      expect(Math.min(read, refused)).toBeGreaterThan(50)
    })

    test('is imported, or refused as invalid, by the whole catalogue', async () => {
      const outcomes = new Set<string>()
      for (const [nth, [good, changes]] of fc.sample(mutations, 40).entries()) {
        const slug = `m${String(nth)}`
        try {
          await world.catalogue.importDocument(importRequest(slug), mutated(good, changes))
          outcomes.add('imported')
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          expect([error.kind, error.message]).toEqual(['invalid', expect.stringMatching(/[.!?…]$/)])
          await expect(world.catalogue.removeProvider('sandbox', null, slug)).rejects.toMatchObject({
            code: 'provider_not_found',
          })
          outcomes.add('refused')
        }
      }
      expect(outcomes).toContain('imported')
    })
  })
})

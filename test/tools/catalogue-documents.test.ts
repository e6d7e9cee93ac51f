import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createDocuments } from '../../service/openapi/documents.ts'
import { operationsOf } from '../../service/openapi/operations.ts'
import { simulate } from '../../service/openapi/simulator.ts'
import type { Operation, Reading, Skipped } from '../../service/tools/model/draft.ts'
import { FILE_SCHEMA, FILES_SCHEMA, type HttpUpstream, type Tool } from '../../service/tools/model/tool.ts'
import type { ReadOptions } from '../../service/tools/ports/sources.ts'
import { newAjv } from './ajv.ts'
import { answered, operation, PET, petDocument } from './documents.ts'

const documents = createDocuments()
const PLAIN: ReadOptions = { base: null, server: null, auth: null, trusted: false }

async function read(text: string, options: Partial<ReadOptions> = {}): Promise<Reading> {
  return await documents.read(text, { ...PLAIN, ...options })
}

/** The operations of a document without references, as the reading thread returns them. */
function operationsIn(text: string, options: Partial<ReadOptions> = {}): (Operation | Skipped)[] {
  return [...operationsOf(JSON.parse(text) as Record<string, unknown>, { ...PLAIN, ...options })]
}

function only(rest: Record<string, unknown>, other: Record<string, unknown> = {}, path = '/x') {
  const [one] = operationsIn(petDocument({ [path]: { post: operation('op', rest) } }, other))
  return one as Operation & { upstream: HttpUpstream }
}

function body(schema: unknown, type = 'application/json', required = true): Record<string, unknown> {
  return { requestBody: { required, content: { [type]: { schema } } } }
}

describe('An operation becomes a tool', () => {
  test('one by one, in the document’s order, with name, description and address', async () => {
    const { name, description, operations, skipped } = await read(petDocument())
    expect({ name, description, skipped }).toEqual({ name: 'Pets', description: 'Keeps pets.', skipped: [] })
    expect(operations.map((one) => [one.operation, one.name])).toEqual([
      ['listPets', 'List pets'],
      ['createPet', 'Create pet'],
      ['getPet', 'Get pet'],
      ['deletePet', 'Delete pet'],
    ])
    expect(operations[3]!.upstream).toEqual({
      kind: 'http',
      method: 'DELETE',
      server: 'https://api.pets.example/v1',
      path: '/pets/{id}',
      where: { id: { in: 'path', name: 'id' } },
      bodyType: null,
      auth: null,
      security: [],
      answer: { status: 204, contentType: null },
    })
  })

  test('omits read-only fields from the input, and write-only fields from the output', async () => {
    const { operations } = await read(petDocument())
    const create = operations[1]!
    expect(create.input).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', examples: ['Rex'] },
        secret: { type: 'string' },
        born: { type: ['string', 'null'], format: 'date' },
      },
      required: ['name'],
      additionalProperties: false,
    })
    expect(create.output).toEqual({
      type: 'object',
      properties: {
        id: { type: 'integer' },
        name: { type: 'string', examples: ['Rex'] },
        born: { type: ['string', 'null'], format: 'date' },
      },
      required: ['id', 'name'],
    })
  })

  test('renames inputs that clash or have odd names, and sends each to its own place', () => {
    const { input, upstream } = only(
      {
        parameters: [
          { name: 'id', in: 'query', schema: { type: 'string' } },
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'filter[status]', in: 'query', style: 'deepObject', explode: true, schema: { type: 'object' } },
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          { name: 'Authorization', in: 'header', required: true, schema: { type: 'string' } },
          { name: 'q', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
        ],
        ...body({ type: 'object', properties: { id: { type: 'integer' }, constructor: { type: 'string' } } }),
      },
      {},
      '/things/{id}',
    )
    expect(upstream.where).toEqual({
      id: { in: 'path', name: 'id' },
      id_query: { in: 'query', name: 'id' },
      filter_status: { in: 'query', name: 'filter[status]', style: 'deepObject', explode: true },
      q: { in: 'query', name: 'q', json: true },
      'X-Trace': { in: 'header', name: 'X-Trace' },
      id_body: { in: 'body', name: 'id' },
      constructor: { in: 'body', name: 'constructor' },
    })
    expect(input['required']).toEqual(['id'])
  })

  test.each([
    ['a list', { type: 'array', items: { type: 'string' } }],
    ['one of several', { oneOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { type: 'string' }] }],
    ['an object of any fields', { type: 'object', additionalProperties: { type: 'string' } }],
  ])('a body that is %s is one input', async (_, schema) => {
    const { input, upstream } = only(body(schema))
    expect(upstream.where).toEqual({ body: { in: 'bodyRoot', name: 'body' } })
    expect(input['required']).toEqual(['body'])
  })

  test('merges allOf into one object, whose alternatives may both match', () => {
    const { input } = only(
      body({
        allOf: [
          { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
          { type: 'object', properties: { b: { oneOf: [{ type: 'integer' }, { type: 'number' }] } } },
        ],
      }),
    )
    expect(input).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { anyOf: [{ type: 'integer' }, { type: 'number' }] } },
      required: ['a'],
      additionalProperties: false,
    })
    expect(newAjv().compile(input)({ a: '', b: 1 })).toBe(true)
  })

  test.each(['*/*', '', ' '])('a body of the type "%s" is sent as JSON', (type) => {
    const { upstream } = only(body({ type: 'object', properties: { a: { type: 'string' } } }, type))
    expect([upstream.bodyType, upstream.where]).toEqual(['application/json', { a: { in: 'body', name: 'a' } }])
  })

  test('reads the limits of 3.0 and 3.1 alike', () => {
    const fields = (properties: object) => body({ type: 'object', properties })
    const older = only(fields({ n: { type: 'integer', minimum: 1, exclusiveMinimum: true, nullable: true } }))
    const newer = only(fields({ n: { type: ['integer', 'null'], exclusiveMinimum: 1 } }), { openapi: '3.1.0' })
    const property = { n: { type: ['integer', 'null'], exclusiveMinimum: 1 } }
    expect(older.input['properties']).toEqual(property)
    expect(newer.input['properties']).toEqual(property)
  })

  test('keeps only patterns that can be matched in linear time', () => {
    const pattern = (text: string) => ({ type: 'string', pattern: text })
    const { input } = only(body({ type: 'object', properties: { a: pattern('^[a-z]+$'), b: pattern('(?=a)b') } }))
    expect(input['properties']).toEqual({ a: { type: 'string', pattern: '^[a-z]+$' }, b: { type: 'string' } })
  })

  test('schemas that contain themselves, and each other, come to an end', async () => {
    const names = Array.from({ length: 60 }, (_, nth) => `T${String(nth)}`)
    const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    const everyOther = Object.fromEntries(names.map((name) => [name.toLowerCase(), reference(name)]))
    const schemas = Object.fromEntries(
      names.map((name) => [name, { type: 'object', description: name.repeat(40), properties: everyOther }]),
    )
    const recursive = {
      ...body({ type: 'object', properties: { root: reference('T0') } }),
      responses: answered(reference('T1')),
    }
    const { operations } = await read(
      petDocument({ '/x': { post: operation('op', recursive) } }, { components: { schemas } }),
    )
    const tool = operations[0]!
    expect(JSON.stringify(tool.input).length).toBeLessThan(16_001)
    expect(JSON.stringify(tool.output).length).toBeLessThan(12_001)
    expect(tool.input['properties']).toMatchObject({
      root: { type: 'object', properties: { t59: { type: 'object' } } },
    })
    expect(newAjv().compile(tool.input)({ root: { t1: { anything: 1 } } })).toBe(true)
  })

  test('names operations without an id, or with a duplicate one, by their address', async () => {
    const paths = { '/a': { get: operation(undefined), post: operation('twice') }, '/b': { get: operation('twice') } }
    const { operations } = await read(petDocument(paths))
    expect(operations.map((one) => one.operation)).toEqual(['GET /a', 'POST /a', 'GET /b'])
  })

  test('a server may have variables, be relative, or be set at the import', () => {
    const server = (text: string, options: Partial<ReadOptions> = {}) =>
      ((operationsIn(text, options)[0] as Operation).upstream as HttpUpstream).server
    const variables = { servers: [{ url: 'https://{region}.x.example/', variables: { region: { default: 'eu' } } }] }
    expect(server(petDocument(undefined, variables))).toBe('https://eu.x.example')
    const relative = petDocument(undefined, { servers: [{ url: '/api' }] })
    expect(server(relative, { base: 'https://x.example/docs/openapi.json' })).toBe('https://x.example/api')
    expect(server(relative, { server: 'https://y.example/' })).toBe('https://y.example')
    expect(operationsIn(relative)[0]).toEqual({ operation: 'listPets', why: 'it names no server' })
  })

  test('leaves an operation out whose key would be a header that no request can use for that', () => {
    const key = (name: string) => ({ type: 'apiKey', in: 'header', name })
    const securitySchemes = {
      host: key('Host'),
      length: key('content-length'),
      lines: key('X\r\nEvil'),
      own: key('X-Key'),
    }
    const named = (...ways: string[][]) =>
      operationsIn(
        petDocument(undefined, {
          components: { securitySchemes },
          security: ways.map((way) => Object.fromEntries(way.map((name) => [name, []]))),
        }),
      )[0]
    const why = expect.stringContaining('which no request can use for that')
    expect(named(['host'])).toEqual({ operation: 'listPets', why })
    expect(named(['own', 'length'], ['host'])).toEqual({ operation: 'listPets', why })
    expect(named(['lines'])).toEqual({ operation: 'listPets', why })
    const usable = [[{ scheme: 'own', scopes: [] }]]
    expect(named(['host'], ['own'])).toMatchObject({ upstream: { auth: { name: 'X-Key' }, security: usable } })
    expect(named(['host'], [])).toMatchObject({ upstream: { security: [[]] } })
    expect(named(['own'])).toMatchObject({ upstream: { security: usable } })
  })

  test('uses the first authentication that needs a single secret', () => {
    const schemes = {
      both: { type: 'apiKey', in: 'query', name: 'key' },
      token: { type: 'oauth2', flows: {} },
      user: { type: 'http', scheme: 'basic' },
    }
    const other = (security: unknown) => ({ security, components: { securitySchemes: schemes } })
    expect(only({}, other([{ both: [] }, { token: [] }])).upstream.auth).toEqual({
      kind: 'apiKey',
      in: 'query',
      name: 'key',
    })
    expect(only({}, other([{ user: [] }])).upstream.auth).toEqual({ kind: 'basic' })
    expect(only({ security: [{ token: [] }] }, other([{ user: [] }])).upstream.auth).toEqual({ kind: 'bearer' })
    expect(only({ security: [] }, other([{ user: [] }])).upstream.auth).toBeNull()
  })

  test('files, cookies and XML are inputs; what cannot be sent is left out, with the reason', async () => {
    const file = { type: 'string', format: 'binary' }
    const { operations, skipped } = await read(
      petDocument({
        '/file': {
          post: operation(
            'upload',
            body({ type: 'object', properties: { file, more: { type: 'array', items: file } } }, 'multipart/form-data'),
          ),
        },
        '/raw': { put: operation('raw', body({}, 'application/octet-stream')) },
        '/xml': { post: operation('xml', body({ type: 'object' }, 'application/xml')) },
        '/kept': {
          post: operation(
            'form',
            body({ type: 'object', properties: { a: { type: 'string' } } }, 'application/x-www-form-urlencoded'),
          ),
        },
        '/cookie': {
          get: operation('cookie', { parameters: [{ name: 'c', in: 'cookie', required: true, schema: {} }] }),
        },
        '/odd': { post: operation('odd', body({}, 'nonsense')) },
      }),
    )
    const properties = (nth: number) => operations[nth]?.input['properties']
    const where = (nth: number) => (operations[nth]?.upstream as HttpUpstream | undefined)?.where
    expect(operations.map((one) => [one.operation, (one.upstream as HttpUpstream).bodyType])).toEqual([
      ['upload', 'multipart/form-data'],
      ['raw', 'application/octet-stream'],
      ['xml', 'application/xml'],
      ['form', 'application/x-www-form-urlencoded'],
      ['cookie', null],
    ])
    expect(properties(0)).toEqual({ file: FILE_SCHEMA, more: FILES_SCHEMA })
    expect([properties(1), where(1)]).toEqual([
      { file: FILE_SCHEMA },
      { file: { in: 'bodyRoot', name: 'file', file: true } },
    ])
    expect(properties(2)).toMatchObject({ body: { type: 'string' } })
    expect(where(4)).toEqual({ c: { in: 'cookie', name: 'c' } })
    expect(skipped).toEqual([{ operation: 'odd', why: 'it requires a body of type nonsense' }])
  })

  test('accepts the name of an inherited property, except __proto__', () => {
    const properties = JSON.parse('{"__proto__": {"type": "string"}, "toString": {"type": "string"}}') as unknown
    const { input } = only(body({ type: 'object', properties, required: ['__proto__', 'toString'] }))
    expect(Object.keys(input['properties'] as object)).toEqual(['toString'])
    expect(input['required']).toEqual(['toString'])
  })

  test('YAML is read like JSON', async () => {
    const yaml =
      'openapi: 3.1.0\ninfo: {title: T, version: "1"}\nservers: [{url: "https://y.example"}]\npaths:\n  /a:\n    get:\n      operationId: a\n      responses: {"200": {description: ok}}\n'
    expect((await read(yaml)).operations.map((one) => one.operation)).toEqual(['a'])
  })
})

describe('A document that is none', () => {
  test.each([
    ['nothing', ''],
    ['a sentence', 'hello world'],
    ['half of one', '{"openapi": "3.0.0", "paths": '],
    ['a list', '[]'],
    ['Swagger 1', '{"swagger": "1.2", "info": {"title": "a", "version": "1"}, "paths": {}}'],
    ['another version', '{"openapi": "4.0.0", "info": {"title": "a", "version": "1"}, "paths": {}}'],
    ['without paths', '{"openapi": "3.0.0", "info": {"title": "a", "version": "1"}}'],
  ])('is refused in a sentence: %s', async (_, text) => {
    await expect(read(text)).rejects.toMatchObject({
      kind: 'invalid',
      code: 'document_refused',
      message: expect.stringMatching(/^The document cannot be imported: .+[.!?…]$/),
    })
  })

  test('external references are not fetched, by file or by address', async () => {
    let requests = 0
    const server = createServer((_, response) => {
      requests++
      response.end('{"type": "string"}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    for (const $ref of [
      `http://127.0.0.1:${String(port)}/schema.json`,
      'file:///etc/passwd',
      '/etc/passwd',
      '../../package.json',
    ]) {
      const text = petDocument({
        '/a': { get: operation('a', { responses: answered({ type: 'object', properties: { a: { $ref } } }) }) },
      })
      // JSON is parsed directly. The second form is no JSON, so the library reads it as YAML, and from a file.
      for (const form of [text, `# YAML\n${text}`]) {
        const tools = await read(form, { trusted: true }).then(
          ({ operations }) => operations,
          () => [],
        )
        expect(JSON.stringify(tools)).not.toMatch(/root:|n8n-nodes/)
      }
    }
    await new Promise((resolve) => server.close(resolve))
    expect(requests).toBe(0)
  })

  test('one that takes too long or too much memory fails alone', async () => {
    await expect(createDocuments({ limitMs: 1 }).read(petDocument(), PLAIN)).rejects.toMatchObject({
      code: 'document_refused',
    })
    const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`
    // Parts of parts of parts, ten each time: ten thousand million of them.
    const parts = Array.from({ length: 11 }, (_, nth) => [
      `P${String(nth)}`,
      { allOf: Array.from({ length: 10 }, () => ({ $ref: `#/components/schemas/P${String(nth + 1)}` })) },
    ])
    const schemas = Object.fromEntries([...parts, ['P11', { type: 'object' }]]) as object
    await read(
      petDocument(
        { '/a': { post: operation('a', body({ $ref: '#/components/schemas/P0' })) } },
        { components: { schemas } },
      ),
      { trusted: true },
    )
    await expect(read(deep)).rejects.toMatchObject({ code: 'document_refused' })
    // Each line is twice the one before: written out, it would be a list of two billion names.
    const bomb = [
      'a0: &a0 [x, x]',
      ...Array.from(
        { length: 30 },
        (_, nth) => `a${String(nth + 1)}: &a${String(nth + 1)} [*a${String(nth)}, *a${String(nth)}]`,
      ),
    ].join('\n')
    await expect(createDocuments({ limitMs: 1_500 }).read(`openapi: 3.0.0\n${bomb}\n`, PLAIN)).rejects.toMatchObject({
      code: 'document_refused',
    })
  })
})

describe('A document that would lead to another host', () => {
  test.each(['@evil.example/x', '.evil.example/x', ':8443/x', 'evil.example/x'])(
    'by the path %s has no such tool',
    (path) => {
      const [left] = operationsIn(petDocument({ [path]: { get: operation('op', {}) } }))
      expect(left).toMatchObject({ why: 'its path does not begin with /' })
    },
  )
})

describe('The simulator', () => {
  const answer = (tool: Operation & { upstream: HttpUpstream }, input: unknown) =>
    simulate({ ...tool, slug: 'pets' } as unknown as Tool, tool.upstream, input)

  test("answers with the document's example, and with the sent values that fit", () => {
    const tool = only({ ...body(PET), responses: answered(PET, '201') })
    const converted = answer(tool, { name: 'Fido', born: '2020-01-01' })
    expect([converted.status, converted.contentType]).toEqual([201, 'application/json'])
    expect(JSON.parse(converted.body.toString())).toEqual({
      id: expect.any(Number),
      name: 'Fido',
      born: expect.any(String),
    })
    // A value that does not fit the response's own schema is left out of it.
    expect(JSON.parse(answer(tool, { name: 7 }).body.toString())).toMatchObject({ name: 'Rex' })
  })

  test('answers about what the path names, with objects, lists and values of a format that were sent', () => {
    const text = { type: 'string' }
    const output = {
      type: 'object',
      properties: {
        id: { type: 'integer', format: 'int64' },
        kind: { type: 'string', enum: ['small', 'large'] },
        due_at: { type: 'string', format: 'date-time' },
        domains: { type: 'array', items: text },
        owner: { type: 'object', properties: { id: { type: 'integer' }, name: text } },
      },
    }
    const given = {
      kind: 'large',
      due_at: '2027-03-04T05:06:07Z',
      domains: ['a.example', 'b.example'],
      owner: { id: 7 },
    }
    const path = { name: 'pet_id', in: 'path', required: true, schema: { type: 'integer' } }
    const rest = { ...body({ ...output, properties: { ...output.properties, id: undefined } }), parameters: [path] }
    const tool = only({ ...rest, responses: answered(output) }, {}, '/pets/{pet_id}')
    const sent = (input: object) => JSON.parse(answer(tool, input).body.toString()) as Record<string, unknown>
    const echoed = sent({ pet_id: 42, ...given })
    expect(echoed).toMatchObject({ id: 42, ...given })
    expect(echoed['owner']).toEqual({ id: 7, name: expect.stringMatching(/^[A-Z]\w+ [A-Z]\w+$/) })
    // What does not fit is not repeated.
    const wrong = { kind: 'huge', due_at: 'tomorrow', domains: [1], owner: { id: 'seven' } }
    const other = sent({ pet_id: 'x', ...wrong })
    for (const [name, value] of Object.entries({ id: 'x', ...wrong })) expect(other[name]).not.toEqual(value)
  })

  test('has no value that stands for all others: each fits its name, its format and its neighbours', () => {
    const moment = { type: 'string', format: 'date-time' }
    const output = {
      type: 'object',
      properties: {
        id: { type: 'string', format: 'uuid' },
        url: { type: 'string', format: 'uri' },
        created_at: moment,
        updated_at: moment,
        expires_at: moment,
        quoted: { type: 'string', example: '"json"' },
        owner: { type: 'object', properties: { name: { type: 'string' }, email: { type: 'string', format: 'email' } } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        errors: { type: 'array', items: { type: 'string' } },
      },
    }
    const tool = only({ responses: answered(output) })
    const answers = ['a', 'b', 'c', 'd', 'e'].map((input) => {
      const { body: sent } = answer(tool, { input })
      return JSON.parse(sent.toString()) as Record<string, string> & { owner: { name: string; email: string } }
    })
    for (const one of answers) {
      expect(Object.keys(one['labels']!)).not.toContain('property1')
      const { created_at: created, updated_at: updated, expires_at: expires } = one
      expect([created! < updated!, updated! < expires!]).toEqual([true, true])
      expect(one).toMatchObject({ quoted: 'json', errors: [] })
      expect(one.owner.email).toBe(`${one.owner.name.split(' ')[0]!.toLowerCase()}@example.com`)
    }
    for (const name of ['id', 'url', 'created_at']) {
      expect(new Set(answers.map((one) => one[name])).size).toBe(answers.length)
    }
  })

  test.each([
    ['image/png', '89504e47'],
    ['image/jpeg', 'ffd8ff'],
    ['image/gif', '474946'],
  ])('a picture where the answer is %s', (type, first) => {
    const { body: bytes } = answer(only({ responses: answered({ type: 'string', format: 'binary' }, '200', type) }), {})
    expect(bytes.toString('hex')).toMatch(new RegExp(`^${first}`))
  })

  test('text, bytes and nothing at all', () => {
    expect(
      answer(only({ responses: answered({ type: 'string' }, '200', 'text/plain') }), {}).body.length,
    ).toBeGreaterThan(0)
    const bytes = answer(
      only({ responses: answered({ type: 'string', format: 'binary' }, '200', 'application/zip') }),
      {},
    )
    expect([bytes.contentType, bytes.body.subarray(0, 2).toString()]).toEqual(['application/zip', 'PK'])
    const deleted = answer(only({ responses: { 204: { description: 'gone' } } }), {})
    expect([deleted.status, deleted.contentType, deleted.body.length]).toEqual([204, null, 0])
  })
})

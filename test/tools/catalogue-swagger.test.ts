import { createDocuments } from '../../service/openapi/documents.ts'
import type { HttpUpstream } from '../../service/tools/model/tool.ts'
import { requestOf } from '../../service/tools/rules/request.ts'
import { NO_CREDENTIALS } from '../../service/connections/service/credentials.ts'

const ORDER = {
  type: 'object',
  required: ['item'],
  properties: { item: { type: 'string' }, parent: { $ref: '#/definitions/Order' } },
}
const DOCUMENT = {
  swagger: '2.0',
  info: { title: 'Shop', version: '3', description: 'Sells things.' },
  host: 'api.shop.example',
  basePath: '/v2',
  schemes: ['http', 'https'],
  consumes: ['application/json'],
  produces: ['application/json'],
  securityDefinitions: {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    login: { type: 'basic' },
    oauth: {
      type: 'oauth2',
      flow: 'accessCode',
      authorizationUrl: 'https://shop.example/authorize',
      tokenUrl: 'https://shop.example/token',
      scopes: { write: 'Writes' },
    },
  },
  security: [{ key: [] }],
  definitions: { Order: ORDER },
  parameters: { page: { name: 'page', in: 'query', type: 'integer', default: 1, maximum: 50 } },
  responses: { Order: { description: 'An order', schema: { $ref: '#/definitions/Order' } } },
  paths: {
    '/orders': {
      get: {
        operationId: 'listOrders',
        parameters: [
          { $ref: '#/parameters/page' },
          ...['multi', 'pipes', 'ssv', undefined].map((collectionFormat, nth) => ({
            ...{ name: `list${String(nth)}`, in: 'query', type: 'array', items: { type: 'string' } },
            ...(collectionFormat === undefined ? {} : { collectionFormat }),
          })),
        ],
        responses: { 200: { description: 'ok', schema: { type: 'array', items: { $ref: '#/definitions/Order' } } } },
      },
      post: {
        operationId: 'createOrder',
        security: [{ oauth: ['write'] }],
        parameters: [{ name: 'order', in: 'body', required: true, schema: { $ref: '#/definitions/Order' } }],
        responses: { 201: { $ref: '#/responses/Order' } },
      },
    },
    '/orders/{id}/photo': {
      parameters: [
        { name: 'id', in: 'path', required: true, type: 'string' },
        { name: 'note', in: 'formData', type: 'string', required: true },
      ],
      post: {
        operationId: 'addPhoto',
        parameters: [{ name: 'photo', in: 'formData', type: 'file', required: true }],
        responses: { 204: { description: 'done' } },
      },
      put: {
        operationId: 'setNote',
        security: [{ login: [] }],
        consumes: ['application/x-www-form-urlencoded'],
        responses: { 200: { description: 'the photo', schema: { type: 'file' } } },
      },
    },
  },
}

describe('A document of Swagger 2.0', () => {
  const read = async (document: unknown, base: string | null = null) =>
    await createDocuments().read(JSON.stringify(document), { base, server: null, auth: null, trusted: false })

  test('creates the same tools as the equivalent OpenAPI 3 document', async () => {
    const { name, version, operations, skipped, schemes } = await read(DOCUMENT)
    expect({ name, version, skipped }).toEqual({ name: 'Shop', version: '3', skipped: [] })
    const [list, create, photo, note] = operations
    const upstream = (nth: number) => operations[nth]?.upstream as HttpUpstream
    expect(operations.map((one) => [one.operation, upstream(operations.indexOf(one)).bodyType])).toEqual([
      ['listOrders', null],
      ['createOrder', 'application/json'],
      ['addPhoto', 'multipart/form-data'],
      ['setNote', 'application/x-www-form-urlencoded'],
    ])
    expect(upstream(0).server).toBe('https://api.shop.example/v2')
    expect(list?.input['properties']).toMatchObject({ page: { type: 'integer', default: 1, maximum: 50 } })
    expect(list?.output).toMatchObject({ type: 'array', items: { type: 'object', required: ['item'] } })
    expect(create?.input).toMatchObject({ properties: { item: { type: 'string' } }, required: ['item'] })
    expect([create?.output, upstream(1).answer.status]).toEqual([expect.objectContaining({ type: 'object' }), 201])
    expect(photo?.input['required']).toEqual(['id', 'note', 'photo'])
    expect(upstream(2).where).toEqual({
      id: { in: 'path', name: 'id' },
      note: { in: 'body', name: 'note' },
      photo: { in: 'body', name: 'photo', file: true },
    })
    expect([note?.input['required'], upstream(3).answer.contentType]).toEqual([
      ['id', 'note'],
      'application/octet-stream',
    ])
    expect([0, 1, 3].map((nth) => upstream(nth).auth)).toEqual([
      { kind: 'apiKey', in: 'header', name: 'X-Key' },
      { kind: 'bearer' },
      { kind: 'basic' },
    ])
    expect(schemes).toContainEqual({
      name: 'oauth',
      place: { kind: 'bearer' },
      oauth: {
        authorizationUrl: 'https://shop.example/authorize',
        deviceUrl: null,
        tokenUrl: 'https://shop.example/token',
        issuer: null,
      },
    })
  })

  test('writes lists as it says', async () => {
    const { operations } = await read(DOCUMENT)
    const upstream = operations[0]?.upstream as HttpUpstream
    const two = ['a', 'b']
    const { url } = requestOf(upstream, { list0: two, list1: two, list2: two, list3: two }, NO_CREDENTIALS)
    const written = decodeURIComponent(new URL(url).search)
    expect(written.replaceAll('+', ' ')).toBe('?list0=a&list0=b&list1=a|b&list2=a b&list3=a,b')
  })

  test('without a host has that of its address', async () => {
    const { operations } = await read({ ...DOCUMENT, host: undefined }, 'https://files.example/swagger.json')
    expect((operations[0]!.upstream as HttpUpstream).server).toBe('https://files.example/v2')
  })
})

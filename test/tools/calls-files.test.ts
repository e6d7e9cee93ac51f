import { respond } from './calls/upstream.ts'
import { toolWorld, importRequest, type ToolWorld } from './calls/world.ts'

const file = { type: 'string', format: 'binary' }
const operationWith = (operationId: string, type: string, schema: object) => ({
  operationId,
  summary: 'Takes a file',
  requestBody: { required: true, content: { [type]: { schema } } },
  responses: { 200: { description: 'Done', content: { 'application/json': { schema: {} } } } },
})
const form = {
  type: 'object',
  required: ['file'],
  properties: { file, pages: { type: 'array', items: file }, title: { type: 'string' } },
}
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Files', version: '1' },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'cookie', name: 'session' } } },
  security: [{ key: [] }],
  paths: {
    '/form': { post: operationWith('form', 'multipart/form-data', form) },
    '/image': { put: operationWith('image', 'image/*', {}) },
    '/order': {
      get: {
        operationId: 'order',
        summary: 'By cookie',
        parameters: [{ name: 'basket', in: 'cookie', required: true, schema: { type: 'string' } }],
        responses: { 200: { description: 'Done' } },
      },
    },
  },
}

describe('a call with files', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld({ TOOL_FILE_BYTES_MAX: '20000' })
    const provider = importRequest(world.upstream.url, { slug: 'files', trusted: true })
    await world.service.catalogue.importDocument(provider, JSON.stringify(DOCUMENT))
    const providerRef = { environment: 'sandbox', ownerId: null, provider: 'files' } as const
    await world.service.catalogue.setCredentials(providerRef, 'platform-secret')
    await world.service.catalogue.setPublic(providerRef, true)
    for (const path of ['/form', '/image', '/order']) world.upstream.respondWith(path, { ok: true })
    world.upstream.on('/picture.png', (_, response) => {
      respond(response, 'PICTURE', 'image/png')
    })
    world.upstream.on('/large', (_, response) => {
      respond(response, 'x'.repeat(30_000), 'text/plain')
    })
  })
  afterAll(async () => {
    await world.close()
  })

  const base64 = (text: string): string => Buffer.from(text).toString('base64')

  test('sends a form: bytes in the call, bytes from an address, and texts', async () => {
    const caller = await world.caller()
    const input = {
      file: { base64: base64('INLINE'), name: '../a "b".txt', contentType: 'text/plain' },
      pages: [{ url: `${world.upstream.url}/picture.png` }, { base64: base64('TWO') }],
      title: 'Both',
    }
    const { status, body } = await world.call(caller, 'files-form', input)
    expect([status, body.details, body.output]).toEqual([200, undefined, { ok: true }])
    const [sent] = world.upstream.to('/form')
    const [, boundary = ''] = /^multipart\/form-data; boundary=(\S+)$/.exec(sent!.headers['content-type']!) ?? []
    const parts = sent!.body.split(`--${boundary}`).map((part) => part.trim())
    const part = (name: string, file: string, type: string, content: string): string =>
      `Content-Disposition: form-data; name="${name}"; filename="${file}"\r\nContent-Type: ${type}\r\n\r\n${content}`
    expect(parts).toEqual([
      '',
      part('file', '_a _b_.txt', 'text/plain', 'INLINE'),
      part('pages', 'picture.png', 'image/png', 'PICTURE'),
      part('pages', 'file', 'application/octet-stream', 'TWO'),
      'Content-Disposition: form-data; name="title"\r\n\r\nBoth',
      '--',
    ])
  })

  test('the address of a file gets no credential of its tool', async () => {
    const before = world.upstream.to('/picture.png').length
    const { status } = await world.call(await world.caller(), 'files-image', {
      file: { url: `${world.upstream.url}/picture.png` },
    })
    expect(status).toBe(200)
    const [fetched] = world.upstream.to('/picture.png').slice(before)
    expect([fetched!.headers.cookie, fetched!.headers.authorization]).toEqual([undefined, undefined])
    const sent = world.upstream.to('/image').at(-1)!
    expect([sent.body, sent.headers['content-type'], sent.headers.cookie]).toEqual([
      'PICTURE',
      'image/png',
      'session=platform-secret',
    ])
  })

  test("puts the caller's cookies after the credential, which they cannot replace", async () => {
    const { status } = await world.call(await world.caller(), 'files-order', { basket: 'b; session=mine' })
    expect(status).toBe(200)
    expect(world.upstream.to('/order').at(-1)!.headers.cookie).toBe(
      'session=platform-secret; basket=b%3B%20session%3Dmine',
    )
  })

  test.each([
    ['no base64', { base64: '%%%%' }, 'must be base64'],
    ['an address without a file', { url: 'HERE/nothing' }, 'its address answered with 404'],
    ['an address inside', { url: 'http://169.254.169.254/latest/meta-data' }, 'cannot be fetched from its address'],
    ['a file that is too large', { url: 'HERE/large' }, 'the files of a call may have 20000 bytes together'],
    [
      'bytes that are too many',
      { base64: base64('x'.repeat(21_000)) },
      'the files of a call may have 20000 bytes together',
    ],
  ])('%s is refused by its field, and costs nothing', async (_, file, fault) => {
    const caller = await world.caller()
    const requestsBefore = world.upstream.to('/form').length
    const named = 'url' in file ? { url: file.url.replace('HERE', world.upstream.url) } : file
    const { status, body } = await world.call(caller, 'files-form', { file: named })
    expect([status, body.details]).toEqual([400, { file: fault }])
    expect(world.upstream.to('/form')).toHaveLength(requestsBefore)
    expect(await world.left(caller)).toMatchObject({ credits: 5, locks: 0 })
  })

  test.each([
    ['both', { url: 'https://a.example/x', base64: '' }],
    ['neither', { name: 'x' }],
    ['another scheme', { url: 'file:///etc/passwd' }],
    ['a text', 'bytes'],
  ])('%s is no file', async (_, file) => {
    const { status, body } = await world.call(await world.caller(), 'files-form', { file })
    expect([status, Object.keys(body.details as object).some((field) => field.startsWith('file'))]).toEqual([400, true])
  })
})

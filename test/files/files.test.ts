import { createHash, randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { testService, type Answer, type CallOptions, type TestPerson, type TestService } from '../harness/service.ts'
import { jpegHead, png, webpHead } from './pictures.ts'
import { until } from '../harness/until.ts'

const BYTES_MAX = 1_000_000

describe('files', () => {
  let service: TestService
  let seller: TestPerson

  beforeAll(async () => {
    service = await testService({
      FILE_BYTES_MAX: String(BYTES_MAX),
      QUOTA_FILE_BYTES: '3000000',
      QUOTA_FILES: '20',
      RATE_API_PER_MINUTE: '0',
    })
  })
  beforeEach(async () => {
    seller = await service.person()
  })
  afterAll(() => service.close())

  function upload(name: string, raw: string | Uint8Array, options: CallOptions & { purpose?: string } = {}) {
    const { purpose = 'sale', ...rest } = options
    const query = new URLSearchParams({ name, purpose })
    return service.call('POST', `/v1/files?${String(query)}`, { key: seller.key, raw, ...rest })
  }

  const rows = async (): Promise<{ files: number; chunks: number }> => {
    const text = `SELECT (SELECT count(*)::int FROM file WHERE user_id = $1) AS files,
      (SELECT count(*)::int FROM file_chunk WHERE file_id IN (SELECT id FROM file WHERE user_id = $1)) AS chunks`
    const [row] = await service.database.statements.run<{ files: number; chunks: number }>(text, [
      seller.caller.user.id,
    ])
    return row!
  }

  const content = async (id: string): Promise<Buffer> => {
    const { chunks } = await service.files.content(id)
    const all: Buffer[] = []
    for await (const chunk of chunks) all.push(chunk)
    return Buffer.concat(all)
  }

  it('are stored in pieces as they were sent, and the same file again is the same file', async () => {
    const bytes = randomBytes(700_000)
    const headers = { 'content-type': 'application/pdf' }
    const { status, body } = await upload('Führer „1“.pdf', bytes, { headers })
    expect([status, body.file]).toEqual([
      201,
      {
        id: expect.stringMatching(/^file_/),
        name: 'Führer „1“.pdf',
        purpose: 'sale',
        mediaType: 'application/pdf',
        bytes: 700_000,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        width: null,
        height: null,
        keptUntil: null,
        url: null,
        createdAt: expect.any(String),
      },
    ])
    expect((await content(String(body.file.id))).equals(bytes)).toBe(true)
    expect((await rows()).chunks).toBeGreaterThan(1)
    const again = await upload('Führer „1“.pdf', bytes, { headers })
    expect(again.body.file).toEqual(body.file)
    const [one, two] = await Promise.all([upload('twice', 'x'), upload('twice', 'x')])
    expect(one.body.file.id).toBe(two.body.file.id)
    const list = await seller.call('GET', '/v1/files')
    expect(list.body).toMatchObject({ total: 2, bytes: 700_001, bytesMax: 3_000_000 })
    expect((await seller.call('DELETE', `/v1/files/${String(body.file.id)}`)).status).toBe(204)
    expect(await rows()).toEqual({ files: 1, chunks: 1 })
  })

  it('have names without folders and line breaks', async () => {
    for (const name of [
      '../../etc/passwd',
      'a\\b',
      '..',
      'a\r\nSet-Cookie: x=1',
      '',
      'x'.repeat(201),
      'a\u202egpj.exe',
    ]) {
      expect([name, (await upload(name, 'x')).status]).toEqual([name, 400])
    }
    expect(await rows()).toEqual({ files: 0, chunks: 0 })
  })

  it('that are too large, or of unknown length, are refused before they are read', async () => {
    const reply = await raw(`POST /v1/files?name=big HTTP/1.1`, [`Content-Length: ${String(BYTES_MAX + 1)}`], '')
    expect(reply).toMatch(/^HTTP\/1\.1 413 [^]*"code":"body_too_large"/)
    expect(await raw('POST /v1/files?name=big HTTP/1.1', ['Content-Length: 99999999999999999999'], '')).toMatch(
      / 4\d\d /,
    )
    const chunked = await raw('POST /v1/files?name=big HTTP/1.1', ['Transfer-Encoding: chunked'], '1\r\nx\r\n0\r\n\r\n')
    expect(chunked).toMatch(/^HTTP\/1\.1 400 [^]*"code":"length_required"/)
    expect((await upload('none', '')).status).toBe(400)
    expect((await upload('zip', 'x', { headers: { 'content-encoding': 'gzip' } })).status).toBe(415)
    expect((await upload('big.png', png(2_000, 2_000), { purpose: 'picture' })).status).toBe(201)
    expect(await rows()).toEqual({ files: 1, chunks: 1 })
  })

  it('are removed when their upload breaks off or its process died', async () => {
    const half = ['Content-Length: 600000']
    await raw('POST /v1/files?name=half HTTP/1.1', half, 'x'.repeat(400_000), async () => (await rows()).chunks > 0)
    await until(async () => (await rows()).files === 0)
    const statements = service.database.statements
    await statements.run(
      `INSERT INTO file (id, user_id, environment, purpose, name, media_type, bytes, lease_until, created_at)
       VALUES ('file_dead', $1, 'sandbox', 'sale', 'x', '', 5, $2, $2)`,
      [seller.caller.user.id, service.clock.now()],
    )
    await statements.run(`INSERT INTO file_chunk VALUES ('file_dead', 0, 'abc')`, [])
    expect((await seller.call('GET', '/v1/files')).body).toMatchObject({ total: 0, bytes: 5 })
    expect(await service.files.sweep(service.clock.now())).toBe(1)
    expect(await rows()).toEqual({ files: 0, chunks: 0 })
  })

  it('are limited for each account, also for concurrent uploads', async () => {
    const large = await Promise.all([1, 2, 3, 4, 5].map((n) => upload(`large${String(n)}`, randomBytes(900_000))))
    expect(large.map(({ status }) => status).sort()).toEqual([201, 201, 201, 429, 429])
    expect(large.find(({ status }) => status === 429)!.body).toMatchObject({
      code: 'quota_exceeded',
      quota: 'file_bytes',
    })
    const small = await Promise.all(Array.from({ length: 30 }, (_, n) => upload(`small${String(n)}`, String(n))))
    expect(small.filter(({ status }) => status === 201)).toHaveLength(17)
    expect(small.find(({ status }) => status === 429)!.body).toMatchObject({ quota: 'files', limit: 20 })
    const other = await service.person()
    expect((await upload('own', 'x', { key: other.key })).status).toBe(201)
  })

  describe('pictures', () => {
    const fetched = (id: string, method = 'GET'): Promise<Answer> => service.call(method, `/p/pictures/${id}`)

    it.each([
      ['PNG', png(40, 30), 'image/png'],
      ['JPEG', jpegHead(40, 30), 'image/jpeg'],
      ['WebP', webpHead(40, 30), 'image/webp'],
    ])('%s: type and size come from its bytes, and everyone can load it', async (_, bytes, type) => {
      const { body } = await upload('product', bytes, { purpose: 'picture', headers: { 'content-type': 'text/html' } })
      expect(body.file).toMatchObject({ mediaType: type, width: 40, height: 30 })
      expect(new URL(String(body.file.url)).pathname).toBe(`/p/pictures/${String(body.file.id)}`)
      const { status, headers } = await fetched(String(body.file.id))
      expect([status, Object.fromEntries(headers)]).toEqual([
        200,
        expect.objectContaining({
          'content-type': type,
          'content-length': String(bytes.length),
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; sandbox",
        }),
      ])
      expect((await fetched(String(body.file.id), 'HEAD')).headers.get('content-length')).toBe(String(bytes.length))
    })

    it('refuse SVG, HTML, too many pixels and a truncated picture', async () => {
      const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
      const cases = [
        svg,
        '<!doctype html>',
        png(8_193, 1),
        png(5_000, 5_000).subarray(0, 60),
        png(9, 9).subarray(0, 20),
      ]
      for (const raw of [...cases, jpegHead(0, 9), 'GIF89a'.padEnd(40)]) {
        const { status, body } = await upload('x.png', raw, {
          purpose: 'picture',
          headers: { 'content-type': 'image/png' },
        })
        expect([status, body.code]).toEqual([415, 'picture_not_supported'])
      }
      expect(await rows()).toEqual({ files: 0, chunks: 0 })
    })

    it('a file for sale has no public address, even a picture', async () => {
      const { body } = await upload('photo.png', png(40, 30))
      expect(body.file).toMatchObject({ mediaType: 'image/png', url: null })
      expect((await fetched(String(body.file.id))).status).toBe(404)
      expect((await fetched('file_nobodys')).status).toBe(404)
    })
  })

  it('that a browser would run are only bytes', async () => {
    const types = [
      'text/html',
      'image/svg+xml',
      'application/xhtml+xml',
      'text/javascript',
      'image/png',
      'a/b\r\n',
      'x',
    ]
    for (const [place, type] of types.entries()) {
      const headers = { 'content-type': type.trim() }
      const { body } = await upload(`page${String(place)}.html`, '<script>alert(1)</script>', { headers })
      expect([type, body.file.mediaType]).toEqual([type, type === 'a/b\r\n' ? 'a/b' : 'application/octet-stream'])
      const { headers: sent } = await service.files.content(String(body.file.id))
      expect(sent['Content-Disposition']).toMatch(/^attachment; /)
      expect(sent['Content-Security-Policy']).toContain('sandbox')
    }
    const { body } = await upload(`"a';%0d é.txt`, 'x')
    const { headers } = await service.files.content(String(body.file.id))
    expect(headers['Content-Disposition']).toBe(
      `attachment; filename="_a';_0d _.txt"; filename*=UTF-8''%22a%27%3B%250d%20%C3%A9.txt`,
    )
  })

  it('are uploaded by the dashboard with its session, from its own origin, and not by agents', async () => {
    const path = '/trpc/files?name=a.txt'
    expect((await service.call('POST', path, { raw: 'x' })).status).toBe(401)
    const { status, body } = await seller.call('POST', path, { raw: 'x' })
    expect([status, body]).toMatchObject([201, { name: 'a.txt', bytes: 1 }])
    const { body: created } = await seller.call('POST', '/v1/agents', { body: { name: 'Buyer' } })
    const { body: key } = await seller.call('POST', '/v1/keys', { body: { name: 'a', agentId: created.agent.id } })
    expect((await service.call('POST', path, { raw: 'x', key: String(key.secret) })).body.code).toBe(
      'agent_key_forbidden',
    )
    const foreign = { cookie: 'coinslot.session_token=x', origin: 'https://evil.example' }
    expect((await service.call('POST', path, { raw: 'x', headers: foreign })).body.code).toBe('foreign_origin')
  })

  it('in use cannot be deleted, and sold ones only when their seller insists', async () => {
    const { body } = await upload('guide.pdf', 'x')
    const id = String(body.file.id)
    const { userId, environment } = { userId: seller.caller.user.id, environment: 'sandbox' as const }
    const use = (subject: string, files: string[], owner = { userId, environment }) =>
      service.database.statements.together((inside) => service.files.use(inside, owner, subject, files))
    const remove = (query = '') => seller.call('DELETE', `/v1/files/${id}${query}`)
    const stranger = await service.person()
    const theirs = { userId: stranger.caller.user.id, environment }
    await expect(use('brand', [id], theirs)).rejects.toThrow('fileId: must be the id of a file')
    await use('brand', [id])
    expect((await remove('?soldToo=true')).body).toMatchObject({ code: 'file_used', usedBy: ['brand'], sold: false })
    await service.database.statements.together((inside) => service.files.sold(inside, id, 'brand'))
    await use('brand', [])
    expect((await remove()).body).toMatchObject({ code: 'file_used', usedBy: ['brand'], sold: true })
    expect((await remove('?soldToo=true')).status).toBe(204)
    await expect(service.files.content(id)).rejects.toMatchObject({ code: 'file_removed' })
    expect(await service.database.statements.together((inside) => service.files.sold(inside, id, 'brand'))).toBe(false)
  })

  /** A request as it is written on the connection. The client hangs up once `isCut`. */
  function raw(line: string, headers: string[], body: string, isCut?: () => Promise<boolean>): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(service.origin).port), '127.0.0.1')
      let text = ''
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
      socket.on('error', reject)
      socket.on('close', () => {
        resolve(text)
      })
      const head = [line, 'Host: x', `Authorization: Bearer ${seller.key}`, 'Connection: close', ...headers]
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => {
        if (isCut !== undefined) void until(isCut).then(() => socket.destroy(), reject)
      })
    })
  }
})

import { randomBytes } from 'node:crypto'
import { openWorld, type World } from '../../checkouts/world.ts'

const HOUR_MS = 3_600_000

describe('POST /p/{chk}/files: 201', () => {
  let world: World
  let id: string
  beforeAll(async () => {
    world = await openWorld({ works: false })
    id = (await world.sell({ testMode: true, fields: [{ name: 'paper', type: 'file' }] })).id
  })
  afterAll(() => world.close())

  const upload = (raw: string | Uint8Array, query = '', type = 'application/pdf') =>
    world.call('POST', `/p/${id}/files${query}`, { raw, headers: { 'content-type': type } })

  it('a link that opens the file for an hour, without a key', async () => {
    const bytes = randomBytes(700_000)
    const before = world.service.clock.now().getTime()
    const { status, body, headers } = await upload(bytes, '?name=Lebenslauf%20%E2%80%9E1%E2%80%9C.pdf')
    expect([status, headers.get('cache-control'), body]).toEqual([
      201,
      'no-store',
      {
        file: {
          url: expect.stringMatching(
            new RegExp(`^http://localhost:0/p/${id}/files/file_\\w{26}\\?token=[\\w-]{43}&name=Lebenslauf[^ ]+\\.pdf$`),
          ),
          name: 'Lebenslauf „1“.pdf',
          bytes: 700_000,
          expiresAt: expect.any(String),
        },
      },
    ])
    const forMs = Date.parse(String(body.file.expiresAt)) - HOUR_MS
    expect([forMs >= before, forMs <= world.service.clock.now().getTime()]).toEqual([true, true])
    const { pathname, search } = new URL(String(body.file.url))
    const fetched = await world.call('GET', pathname + search)
    expect([fetched.status, Object.fromEntries(fetched.headers)]).toEqual([
      200,
      expect.objectContaining({
        'content-type': 'application/pdf',
        'content-length': '700000',
        'content-disposition': expect.stringMatching(/^attachment; /),
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-store',
      }),
    ])
  })

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\a\\scan.png', 'scan.png'],
    ['a\r\nSet-Cookie: x=1', 'aSet-Cookie: x=1'],
    ['a\u202egpj.exe', 'agpj.exe'],
    ['..', 'file'],
    ['', 'file'],
    [`${'x'.repeat(300)}.docx`, `${'x'.repeat(95)}.docx`],
  ])('the name %j is stored as %j', async (name, stored) => {
    const { status, body } = await upload('x', `?name=${encodeURIComponent(name)}`)
    expect([status, body.file.name]).toEqual([201, stored])
  })

  it('the same bytes again are another file, so that no customer has the file of another one', async () => {
    const [one, two] = [await upload('same', '?name=a.txt'), await upload('same', '?name=a.txt')]
    expect([one.status, two.status]).toEqual([201, 201])
    expect(one.body.file.url).not.toBe(two.body.file.url)
  })

  it('what a browser would run is only bytes, and never shown', async () => {
    for (const type of ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/javascript']) {
      const { body } = await upload('<script>alert(1)</script>', '?name=page.html', type)
      const { pathname, search } = new URL(String(body.file.url))
      const { headers } = await world.call('GET', pathname + search, { headers: { accept: 'text/html' } })
      expect([type, headers.get('content-type')]).toEqual([type, 'application/octet-stream'])
      expect(headers.get('content-disposition')).toMatch(/^attachment; /)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain('sandbox')
    }
  })
})

import jsQR from 'jsqr'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { liveSettings } from '../harness/live.ts'

const TERMS = {
  ...{ callbackUrl: 'http://127.0.0.1:9/own', product: { name: 'Audit' }, price: 5 },
  ...{ network: 'base-sepolia', recipient: `0x${'11'.repeat(20)}`, testMode: true },
}
const SHOP = 'https://shop.example.com'
const PAGE = { accept: 'text/html' }

/** A checkout on sellers' own sites: who may frame it, the script that does, and its address as a picture. */
describe('a checkout that is embedded', () => {
  let service: TestService
  let seller: TestPerson

  beforeAll(async () => {
    service = await testService(liveSettings())
    seller = await service.person()
  })
  afterAll(() => service.close())

  const create = async (terms: object = {}, by = seller) =>
    await by.call('POST', '/v1/checkouts', { body: { ...TERMS, ...terms } })
  const createCheckout = async (terms: object = {}): Promise<string> => (await create(terms)).body.checkout.id as string
  const framedBy = async (path: string): Promise<string | undefined> => {
    const { headers } = await service.call('GET', path, { headers: PAGE })
    return /frame-ancestors ([^;]*)/.exec(headers.get('content-security-policy') ?? '')?.[1]
  }

  test('can be framed only by an allowed site, and only in the page meant for that site', async () => {
    const chk = await createCheckout({ embedOrigins: [SHOP, 'https://other.example.com:8443', SHOP] })
    const { checkout } = (await seller.call('GET', `/v1/checkouts/${chk}`)).body
    expect(checkout.embedOrigins).toEqual([SHOP, 'https://other.example.com:8443'])
    expect(await framedBy(`/p/${chk}`)).toBe("'none'")
    expect(await framedBy(`/p/${chk}?embed=${SHOP}`)).toBe(SHOP)
    for (const origin of [
      'https://evil.example',
      `${SHOP}/`,
      'https://shop.example.com.evil.example',
      '*',
      'null',
      '',
    ]) {
      expect(await framedBy(`/p/${chk}?embed=${encodeURIComponent(origin)}`)).toBe("'none'")
    }
    const tab = await service.call('GET', `/p/${chk}?embed=${SHOP}&tab=1`, { headers: PAGE })
    expect(tab.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(tab.headers.get('cross-origin-opener-policy')).toBe('unsafe-none')
    const alone = await service.call('GET', `/p/${chk}?tab=1`, { headers: PAGE })
    expect(alone.headers.get('cross-origin-opener-policy')).toBe('same-origin')
    // Buyers are not shown where else it is sold.
    expect((await service.call('GET', `/p/${chk}`)).text).not.toContain('other.example')
  })

  test.each([
    ['https://*.example.com'],
    ['https://shop.example.com;script-src'],
    ['https://shop.example.com,https:'],
    ['https://shop.example.com/path'],
    ['https://shop.example.com/'],
    ['https://SHOP.example.com'],
    ['https://shop.example.com:443'],
    ['https://user@shop.example.com'],
    ['http://shop.example.com'],
    ['http://localhost.evil.example'],
    ['data:text/html,1'],
    ['null'],
    ["'self'"],
  ])('refuses a site that is not an exact origin: %s', async (origin) => {
    const { status, body } = await create({ embedOrigins: [origin] })
    expect([status, body.code]).toEqual([400, 'invalid_input'])
    expect(JSON.stringify(body)).toContain('embedOrigins')
  })

  test('allows twenty sites at most, and http://localhost in the sandbox only', async () => {
    const many = Array.from({ length: 21 }, (_, at) => `https://s${String(at)}.example.com`)
    expect((await create({ embedOrigins: many })).status).toBe(400)
    expect((await create({ embedOrigins: many.slice(1) })).status).toBe(201)
    const local = { embedOrigins: ['http://localhost:3000'] }
    expect((await create(local)).status).toBe(201)
    const live = await service.person({ environment: 'production' })
    const refused = await create(local, live)
    expect([refused.status, refused.body.details]).toEqual([
      400,
      { embedOrigins: 'must use https: http://localhost works in the sandbox only' },
    ])
    const { checkout } = (await create({}, live)).body
    const changed = await live.call('PATCH', `/v1/checkouts/${String(checkout.id)}`, { body: local })
    expect(changed.body.details).toEqual(refused.body.details)
  })

  test('of a node can get allowed sites from its owner, who can change nothing else', async () => {
    const source = { instanceId: 'one', workflowId: 'two', nodeId: 'three' }
    const chk = await createCheckout({ source })
    await seller.call('POST', `/v1/checkouts/${chk}/expire`, { body: { graceSeconds: 60 } })
    const path = `/v1/checkouts/${chk}`
    const { checkout: before } = (await seller.call('GET', path)).body
    const { status, body } = await seller.call('PATCH', path, { body: { embedOrigins: [SHOP] } })
    expect([status, body.checkout]).toEqual([
      200,
      { ...before, embedOrigins: [SHOP], updatedAt: body.checkout.updatedAt },
    ])
    const other = await seller.call('PATCH', path, { body: { embedOrigins: [], price: 1 } })
    expect([other.status, other.body.code]).toEqual([409, 'checkout_of_workflow'])
    const stranger = await service.person()
    expect((await stranger.call('PATCH', path, { body: { embedOrigins: [] } })).status).toBe(404)
    await create({ source })
    expect((await seller.call('GET', path)).body.checkout).toMatchObject({ id: chk, embedOrigins: [SHOP] })
    expect((await seller.call('PATCH', path, { body: { embedOrigins: null } })).body.checkout.embedOrigins).toEqual([])
  })

  test('has a small script that every site may load, and that browsers revalidate', async () => {
    const first = await service.call('GET', '/embed.js')
    expect(first.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(first.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(first.headers.get('cache-control')).toContain('max-age=3600')
    expect(Buffer.byteLength(first.text)).toBeLessThan(6_000)
    expect(first.text).toContain('`/p/$')
    expect(first.text).not.toMatch(/\beval\b|new Function|innerHTML|\.cssText|setAttribute\(.style/)
    const again = await service.call('GET', '/embed.js', {
      headers: { 'if-none-match': first.headers.get('etag') ?? '' },
    })
    expect([again.status, again.text]).toEqual([304, ''])
    expect((await service.call('GET', '/embed.js/x')).status).toBe(404)
    expect((await service.call('POST', '/embed.js')).status).toBe(404)
  })

  test('has its address as a readable QR code', async () => {
    const chk = await createCheckout()
    const { headers, text } = await service.call('GET', `/p/${chk}/qr.svg`)
    expect(headers.get('content-type')).toBe('image/svg+xml; charset=utf-8')
    expect(headers.get('cache-control')).toBe('public, max-age=86400')
    const { url } = (await seller.call('GET', `/v1/checkouts/${chk}`)).body.checkout
    expect(read(text)).toBe(url)
    expect((await service.call('GET', `/p/chk_${'0'.repeat(26)}/qr.svg`)).status).toBe(404)
  })
})

/** What a reader sees in the picture. Its dark modules are squares of a path. */
function read(svg: string): string | undefined {
  const scale = 4
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? []
  const size = { width: Number(width), height: Number(height) }
  const path = /<path[^>]* d="([^"]*)"/.exec(svg)?.[1] ?? ''
  const unit = Number(/h(\d+)/.exec(path)?.[1])
  const columns = size.width / unit
  const pixels = new Uint8ClampedArray((columns * scale) ** 2 * 4).fill(255)
  for (const [, x, y] of path.matchAll(/M(\d+),(\d+)/g)) {
    for (let at = 0; at < scale * scale; at++) {
      const column = (Number(x) / unit) * scale + (at % scale)
      const row = (Number(y) / unit) * scale + Math.floor(at / scale)
      pixels.fill(0, (row * columns * scale + column) * 4, (row * columns * scale + column) * 4 + 3)
    }
  }
  return jsQR.default(pixels, columns * scale, columns * scale)?.data
}

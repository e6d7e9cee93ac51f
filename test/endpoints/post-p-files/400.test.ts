import { openWorld, type World } from '../../checkouts/world.ts'

const BYTES_MAX = 20_000
const FIELDS = [{ name: 'paper', type: 'file' }]

describe('POST /p/{chk}/files: 400, 404 and 413, before anything is stored', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false, environment: { FILE_BYTES_MAX: String(BYTES_MAX) } })
  })
  afterAll(() => world.close())

  const upload = (id: string, raw: string | Uint8Array, headers: Record<string, string> = {}) =>
    world.call('POST', `/p/${id}/files?name=a.txt`, { raw, headers })

  it('400 without bytes, and 415 for compressed ones', async () => {
    const { id } = await world.sell({ testMode: true, fields: FIELDS })
    expect((await upload(id, '')).status).toBe(400)
    expect((await upload(id, 'x', { 'content-encoding': 'gzip' })).status).toBe(415)
  })

  it('400 at a checkout that asks for no file', async () => {
    const { id } = await world.sell({ testMode: true, fields: [{ name: 'site', type: 'url' }] })
    expect(await upload(id, 'x')).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
  })

  it('404 for an unknown checkout and an expired one', async () => {
    const { id } = await world.sell({ testMode: true, fields: FIELDS })
    await world.seller.call('DELETE', `/v1/checkouts/${id}`)
    for (const gone of [id, 'chk_nobodys']) {
      expect(await upload(gone, 'x')).toMatchObject({ status: 404, body: { code: 'checkout_not_found' } })
    }
  })

  it('413 for a byte too many, and 201 for the last one', async () => {
    const { id } = await world.sell({ testMode: true, fields: FIELDS })
    const large = await upload(id, new Uint8Array(BYTES_MAX + 1))
    expect(large).toMatchObject({ status: 413, body: { code: 'body_too_large' } })
    expect((await upload(id, new Uint8Array(BYTES_MAX))).status).toBe(201)
  })
})

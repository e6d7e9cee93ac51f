import { openWorld, type World } from '../../checkouts/world.ts'

const FIELDS = [{ name: 'paper', type: 'file' }]
const TEXT = { 'content-type': 'text/plain' }

describe('GET /p/{chk}/files/{file}: 404', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false })
  })
  afterAll(() => world.close())

  const missing = { status: 404, body: { code: 'file_not_found' } }

  it('without the token of this file at this checkout', async () => {
    const [one, other] = [await world.sell({ fields: FIELDS }), await world.sell({ fields: FIELDS })]
    const uploads = await Promise.all(
      [one, one, other].map(({ id }) => world.call('POST', `/p/${id}/files`, { raw: 'x', headers: TEXT })),
    )
    const [first, second, elsewhere] = uploads.map(({ body }) => new URL(String(body.file.url)))
    expect((await world.call('GET', first!.pathname + first!.search)).status).toBe(200)
    const ofOther = first!.pathname.replace(one.id, other.id)
    for (const path of [
      first!.pathname,
      `${first!.pathname}?token=${'a'.repeat(43)}`,
      first!.pathname + second!.search,
      ofOther + first!.search,
      ofOther + elsewhere!.search,
      `/p/${one.id}/files/file_nobodys?token=${first!.searchParams.get('token')!}`,
    ]) {
      expect(await world.call('GET', path)).toMatchObject(missing)
    }
  })

  it('for a file of the seller, a picture of the seller, and an upload at the addresses of those', async () => {
    const { id } = await world.sell({ fields: FIELDS })
    const own = await world.seller.call('POST', '/v1/files?name=own.txt', { raw: 'secret', headers: TEXT })
    const { body } = await world.call('POST', `/p/${id}/files`, { raw: 'x', headers: TEXT })
    const { pathname, search } = new URL(String(body.file.url))
    const uploaded = pathname.split('/').at(-1)!
    for (const answer of [
      await world.call('GET', `/p/${id}/files/${String(own.body.file.id)}${search}`),
      await world.call('GET', `/p/pictures/${uploaded}`),
      await world.call('GET', `/tools/answers/${uploaded}${search}`),
      await world.seller.call('GET', `/v1/files/${uploaded}`),
      await world.seller.call('DELETE', `/v1/files/${uploaded}`),
    ]) {
      expect(answer).toMatchObject(missing)
    }
    expect((await world.call('GET', pathname + search)).text).toBe('x')
  })

  it('after its hour, before the sweeper comes by', async () => {
    const { id } = await world.sell({ fields: FIELDS })
    const { body } = await world.call('POST', `/p/${id}/files`, { raw: 'x', headers: TEXT })
    const { pathname, search } = new URL(String(body.file.url))
    world.service.clock.forward(3_600_000)
    expect(await world.call('GET', pathname + search)).toMatchObject(missing)
  })
})

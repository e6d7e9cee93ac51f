import { openWorld, type World } from '../../checkouts/world.ts'

const TEXT = { 'content-type': 'text/plain' }
const FIELDS = [{ name: 'paper', type: 'file' }]

describe('POST /p/{chk}/files: 429', () => {
  it('after too many from one address; reading has a limit of its own', async () => {
    const world = await openWorld({ works: false, environment: { RATE_PAY_PER_MINUTE: '2' } })
    const { id } = await world.sell({ testMode: true, fields: FIELDS })
    const upload = () => world.call('POST', `/p/${id}/files`, { raw: 'x', headers: TEXT })
    const links = [await upload(), await upload()].map(({ body }) => new URL(String(body.file.url)))
    const { status, headers } = await upload()
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    for (const { pathname, search } of links) expect((await world.call('GET', pathname + search)).status).toBe(200)
    await world.close()
  })

  describe('where there is no room', () => {
    let world: World
    beforeAll(async () => {
      // A checkout's files may wait in a tenth of it, all that wait in a half.
      const environment = { QUOTA_CUSTOMER_FILES: '40', QUOTA_CUSTOMER_FILE_BYTES: '100000' }
      world = await openWorld({ works: false, environment })
    })
    afterAll(() => world.close())

    const upload = (id: string, raw: string | Uint8Array = 'x') => world.call('POST', `/p/${id}/files`, { raw })
    const many = async (id: string, count: number): Promise<number[]> => {
      const answers = await Promise.all(Array.from({ length: count }, () => upload(id)))
      return answers.map(({ status }) => status).sort()
    }

    it('a full checkout, also for concurrent uploads, refuses no other one and not its seller', async () => {
      const seller = await world.service.person()
      const [one, two] = [await world.sell({ fields: FIELDS }, seller), await world.sell({ fields: FIELDS }, seller)]
      expect(await many(one.id, 6)).toEqual([201, 201, 201, 201, 429, 429])
      expect(await upload(one.id)).toMatchObject({ status: 429, body: { code: 'too_many_uploads' } })
      expect(await upload(two.id, new Uint8Array(10_001))).toMatchObject({ status: 429 })
      expect((await upload(two.id, new Uint8Array(10_000))).status).toBe(201)
      expect((await seller.call('POST', '/v1/files?name=own.txt', { raw: 'x' })).status).toBe(201)
      expect((await seller.call('GET', '/v1/files')).body).toMatchObject({ total: 1, bytes: 1 })
    })

    it('simulated payments make no room for more', async () => {
      const { id } = await world.sell({ testMode: true, fields: FIELDS }, await world.service.person())
      for (let count = 0; count < 4; count++) {
        const { body } = await upload(id)
        const paid = { input: { paper: String(body.file.url) }, simulate: true }
        expect((await world.call('POST', `/p/${id}/pay`, { body: paid })).status).toBe(200)
      }
      expect((await upload(id)).status).toBe(429)
    })

    it('a full account refuses no other one, and has room again after an hour', async () => {
      const seller = await world.service.person()
      const checkouts = await Promise.all(Array.from({ length: 6 }, () => world.sell({ fields: FIELDS }, seller)))
      for (const { id } of checkouts.slice(0, 5)) expect(await many(id, 4)).toEqual([201, 201, 201, 201])
      expect((await upload(checkouts[5]!.id)).status).toBe(429)
      const other = await world.sell({ fields: FIELDS }, await world.service.person())
      expect((await upload(other.id)).status).toBe(201)
      world.service.clock.forward(3_600_000)
      expect((await upload(checkouts[5]!.id)).status).toBe(201)
    })
  })
})

import { randomBytes } from 'node:crypto'
import { openWorld, type World } from './world.ts'

const HOUR_MS = 3_600_000
const MOST = 1_000

/** What stands in a page's form goes to another device by a token, and to nothing else. */
describe('an order that is handed to another device', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  const put = (id: string, body: object) => world.call('POST', `/p/${id}/drafts`, { body })
  const take = (id: string, token: string) => world.call('GET', `/p/${id}/draft`, { headers: { 'x-draft': token } })

  it('opens by its token at its checkout in the last stored form, for an hour', async () => {
    const [{ id }, other] = [await world.sell(), await world.sell()]
    const token = tokenOf()
    const stored = await put(id, { token, content: '{"values":{"site":"a"}}' })
    expect(stored).toMatchObject({ status: 201, body: { url: expect.stringContaining(`/p/${id}?draft=${token}`) } })
    expect(String(stored.body.qr)).toContain('<svg')
    expect((await put(id, { token, content: '{"values":{"site":"b"}}' })).status).toBe(201)
    expect(await take(id, token)).toMatchObject({ status: 200, body: { content: '{"values":{"site":"b"}}' } })
    expect((await take(id, token)).headers.get('cache-control')).toBe('no-store')

    const missing = { status: 404, body: { code: 'draft_not_found' } }
    expect(await take(other.id, token)).toMatchObject(missing)
    expect(await take(id, tokenOf())).toMatchObject(missing)
    // Another checkout's page cannot change it, though it knows the token.
    await put(other.id, { token, content: '{"values":{"site":"c"}}' })
    expect(await take(id, token)).toMatchObject({ body: { content: '{"values":{"site":"b"}}' } })
    expect(await take(other.id, token)).toMatchObject(missing)

    world.service.clock.forward(HOUR_MS)
    expect(await take(id, token)).toMatchObject(missing)
  })

  it('is stored under a hash of its token', async () => {
    const { id } = await world.sell()
    const token = tokenOf()
    await put(id, { token, content: '{}' })
    const rows = await world.service.database.statements.run<{ text: string }>(
      'SELECT checkout_draft::text AS text FROM checkout_draft WHERE checkout_id = $1',
      [id],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0]!.text).not.toContain(token.slice(4))
  })

  it('names the field that is wrong, and stores nothing then', async () => {
    const { id } = await world.sell()
    const token = tokenOf()
    for (const [body, field] of [
      [{ token: 'tok_short', content: '{}' }, 'token'],
      [{ token, content: 'x'.repeat(20_001) }, 'content'],
      [{ token, content: '' }, 'content'],
      [{ token, content: '{}', email: 'ada@example.com' }, 'email'],
    ] as const) {
      const { status, body: answer } = await put(id, body)
      expect([status, Object.keys(answer.details as object)]).toEqual([400, [field]])
    }
    expect((await take(id, token)).status).toBe(404)
    expect(await take(id, 'tok_short')).toMatchObject({
      status: 400,
      body: { details: { 'x-draft': expect.any(String) } },
    })
    expect(await put('chk_none', { token, content: '{}' })).toMatchObject({ status: 404 })
  })

  it('is limited in number for each checkout, until the hour is over', async () => {
    const [{ id }, other] = [await world.sell(), await world.sell()]
    const until = new Date(world.service.clock.now().getTime() + HOUR_MS)
    await world.service.database.statements.run(
      `INSERT INTO checkout_draft (token_hash, checkout_id, content, expires_at)
       SELECT sha256(n::text::bytea), $1, '{}', $2 FROM generate_series(1, $3) AS n`,
      [id, until, MOST],
    )
    const body = { token: tokenOf(), content: '{}' }
    expect(await put(id, body)).toMatchObject({ status: 429, body: { code: 'too_many_drafts' } })
    expect((await put(other.id, { ...body, token: tokenOf() })).status).toBe(201)
    world.service.clock.forward(HOUR_MS)
    expect((await put(id, body)).status).toBe(201)
  })
})

function tokenOf(): string {
  return `tok_${randomBytes(32).toString('base64url')}`
}

import { LIVE } from '../../checkouts/world.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'
import { PAYWALL } from '../post-paywalls/paywall.ts'

describe('GET /paywalls → 200', () => {
  let service: TestService
  let person: TestPerson
  let id: string
  beforeAll(async () => {
    service = await testService(LIVE)
    person = await service.person()
    id = (await person.call('POST', '/v1/paywalls', { body: PAYWALL })).body.paywall.id
    await person.call('POST', '/v1/paywalls', { body: { ...PAYWALL, slug: 'second', testMode: true } })
  })
  afterAll(() => service.close())

  it('lists one’s own, newest first, and shows one, without the secret', async () => {
    const { body } = await person.call('GET', '/v1/paywalls?limit=1')
    expect(body).toMatchObject({ total: 2, limit: 1, offset: 0, paywalls: [{ slug: 'second' }] })
    expect(body.paywalls[0].testToken).toMatch(/^test_/)
    const one = await person.call('GET', `/v1/paywalls/${id}`)
    expect(one.body).toMatchObject({ paywall: { id, slug: 'weather', upstreamHeaders: ['X-Api-Key'] } })
    expect(one.body.secret).toBeUndefined()
  })

  it("answers 404 for another account's, another environment’s and an unknown paywall", async () => {
    const stranger = await service.person()
    const elsewhere = await service.person({ environment: 'production' })
    for (const [who, which] of [
      [stranger, id],
      [elsewhere, id],
      [person, 'pwl_none'],
      [person, id.replace('pwl', 'chk')],
    ] as const) {
      const base = `/v1/paywalls/${which}`
      const reads = [
        who.call('GET', base),
        who.call('PATCH', base, { body: { name: 'x' } }),
        who.call('DELETE', base),
        who.call('POST', `${base}/rotate-secret`),
        who.call('GET', `${base}/payments`),
        who.call('GET', `${base}/analytics`),
      ]
      for (const answer of await Promise.all(reads)) {
        expect(answer).toMatchObject({ status: 404, body: { code: 'paywall_not_found' } })
      }
    }
    expect((await stranger.call('GET', '/v1/paywalls')).body.total).toBe(0)
  })
})

import { ALLOWED, promptBody, published, run } from '../../marketplace/bodies.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('POST /rda/{identifier}/rate → 400, 401, 403, 404, 409', () => {
  let service: TestService
  let creator: TestPerson
  let slug: string

  beforeAll(async () => {
    service = await testService(ALLOWED)
    creator = await service.person()
    slug = await published(creator)
  })
  afterAll(async () => {
    await service.close()
  })

  const rate = (person: TestPerson, body: unknown, identifier = slug, headers: Record<string, string> = {}) =>
    person.call('POST', `/v1/rda/${identifier}/rate`, { body, headers })
  const ratings = async (): Promise<number> =>
    (await service.call('GET', `/v1/rda/${slug}`)).body.rda.stats.totalRatings as number

  test.each([{}, { score: 0 }, { score: 6 }, { score: 4.5 }, { score: '5' }, { score: null }])(
    '400: %j',
    async (body) => {
      const answer = await rate(creator, body)
      expect(answer.status).toBe(400)
      expect(Object.keys(answer.body.details as object)).toEqual(['score'])
    },
  )

  test('401 without authentication', async () => {
    expect((await service.call('POST', `/v1/rda/${slug}/rate`, { body: { score: 5 } })).status).toBe(401)
  })

  test('403 for an account that never ran it, and for its creator', async () => {
    const stranger = await rate(await service.person(), { score: 1 })
    expect({ status: stranger.status, code: stranger.body.code }).toEqual({ status: 403, code: 'run_required' })
    await run(creator, slug)
    const own = await rate(creator, { score: 5 })
    expect({ status: own.status, code: own.body.code }).toEqual({ status: 403, code: 'own_rda' })
    expect(await ratings()).toBe(0)
  })

  test("404 for an unknown asset and another's draft", async () => {
    const body = promptBody()
    await creator.call('POST', '/v1/rda', { body })
    const person = await service.person()
    for (const identifier of ['no-such-asset', String(body['slug'])]) {
      expect((await rate(person, { score: 5 }, identifier)).status).toBe(404)
    }
  })

  test('409: a second time, also of ten at once; the same request again is not a second time', async () => {
    const caller = await service.person()
    await run(caller, slug)
    const before = await ratings()
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => rate(caller, { score: 1 + (i % 5) })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)])
    expect(await ratings()).toBe(before + 1)

    const other = await service.person()
    await run(other, slug)
    const headers = { 'idempotency-key': 'rate-once' }
    const first = await rate(other, { score: 3 }, slug, headers)
    const again = await rate(other, { score: 3 }, slug, headers)
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body).toEqual(first.body)
    expect(await ratings()).toBe(before + 2)
  })
})

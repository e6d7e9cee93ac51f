import { testService, type Answer, type TestPerson, type TestService } from '../harness/service.ts'
import { promptBody } from '../marketplace/bodies.ts'

describe('the marketplace for visitors', () => {
  let service: TestService
  let creator: TestPerson
  const slug = 'for-visitors'

  beforeAll(async () => {
    service = await testService({ RATE_API_PER_MINUTE: '40' })
    creator = await service.person()
    const created = await creator.call('POST', '/v1/rda', { body: promptBody({ slug, name: 'Visitors read this' }) })
    expect(created.status).toBe(201)
  })
  afterAll(() => service.close())

  const query = (name: string, input: object): Promise<Answer> =>
    service.call('GET', `/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`)
  const act = (action: string): Promise<Answer> => creator.call('POST', `/v1/rda/${slug}/${action}`)
  const found = async (): Promise<unknown[]> =>
    (await query('market.list', { search: 'Visitors', status: 'draft', mine: true })).body.result.data
      .assets as unknown[]

  test('a published asset is listed and shown with its price and inputs; its template is not', async () => {
    await act('publish')
    expect(await found()).toEqual([expect.objectContaining({ slug, status: 'published' })])
    const { data } = (await query('market.get', { id: slug })).body.result
    expect(data).toMatchObject({
      slug,
      pricing: { amount: expect.any(Number) },
      promptConfig: { promptTemplate: null },
    })
    expect(data.schema.inputs.length).toBeGreaterThan(0)
  })

  test.each(['unpublish', 'publish', 'archive'])('after %s only published assets exist for them', async (action) => {
    await act(action)
    const isThere = action === 'publish'
    expect((await found()).length).toBe(isThere ? 1 : 0)
    const { status, text } = await query('market.get', { id: slug })
    expect(status).toBe(isThere ? 200 : 404)
    if (isThere) return
    const nothing = await query('market.get', { id: 'never-made' })
    expect(nothing.text.replace(/req_\w+/, '')).toBe(text.replace(/req_\w+/, ''))
  })

  test("an address's rate limit counts each call of a batch", async () => {
    const names = Array.from({ length: 30 }, () => 'market.get').join(',')
    const input = JSON.stringify(Object.fromEntries(Array.from({ length: 30 }, (_, at) => [at, { id: slug }])))
    const answers = []
    for (let times = 0; times < 2; times++) {
      answers.push(await service.call('GET', `/trpc/${names}?batch=1&input=${encodeURIComponent(input)}`))
    }
    expect(answers.map(({ text }) => text).join()).toContain('rate_limited')
    expect((await query('market.get', { id: slug })).status).toBe(429)
  })
})

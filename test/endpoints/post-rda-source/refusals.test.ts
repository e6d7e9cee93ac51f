import { ALLOWED, promptBody, published, toolBody } from '../../marketplace/bodies.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

const source = (sourcePrice: number | null) => promptBody({ promptConfig: { promptTemplate: 'Hush', sourcePrice } })

describe('POST /rda/{identifier}/source → 400, 401, 402, 403, 404', () => {
  let service: TestService
  let creator: TestPerson
  let reader: TestPerson

  beforeAll(async () => {
    service = await testService(ALLOWED)
    creator = await service.person()
    reader = await service.person()
    await reader.call('POST', '/v1/wallet/deposit', { body: { amount: 0.25 } })
  })
  afterEach(async () => {
    expect((await reader.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBe(0.25)
  })
  afterAll(async () => {
    await service.close()
  })

  async function refused(identifier: string, body?: unknown) {
    const answer = await reader.call('POST', `/v1/rda/${identifier}/source`, body === undefined ? {} : { body })
    expect(answer.text).not.toContain('Hush')
    return answer
  }

  test('400: a tool has no template; a body with something else in it', async () => {
    const tool = await published(creator, toolBody())
    expect((await refused(tool)).body).toMatchObject({ code: 'not_a_prompt' })
    const prompt = await published(creator, source(0.1))
    expect((await refused(prompt, { price: 1 })).body.details).toEqual({ price: 'is not known' })
    expect((await refused(prompt, { maxCost: -1 })).status).toBe(400)
  })

  test('401 without authentication', async () => {
    const slug = await published(creator, source(0.1))
    expect((await service.call('POST', `/v1/rda/${slug}/source`)).status).toBe(401)
  })

  test('402: the balance is too low, or the price above maxCost; nothing was sold', async () => {
    const slug = await published(creator, source(0.5))
    const poor = await refused(slug)
    expect(poor.status).toBe(402)
    expect(poor.body).toMatchObject({ code: 'insufficient_balance', required: 0.5, available: 0.25 })
    const cheap = await published(creator, source(0.2))
    expect((await refused(cheap, { maxCost: 0.1 })).body).toMatchObject({ code: 'max_cost_exceeded', required: 0.2 })
    expect((await reader.call('GET', `/v1/rda/${slug}`)).body.rda.promptConfig.promptTemplate).toBeNull()
  })

  test('403: it is not for sale', async () => {
    const slug = await published(creator, source(null))
    const answer = await refused(slug)
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 403, code: 'source_not_for_sale' })
  })

  test("404 for an unknown asset and another's draft", async () => {
    const draft = source(0.1)
    await creator.call('POST', '/v1/rda', { body: draft })
    for (const identifier of ['no-such-asset', String(draft['slug'])])
      expect((await refused(identifier)).status).toBe(404)
  })
})

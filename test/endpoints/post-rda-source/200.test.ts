import { foldStats } from '../../../service/marketplace/store/runs/runs.ts'
import { ALLOWED, promptBody, published } from '../../marketplace/bodies.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

const source = (sourcePrice: number | null) =>
  promptBody({ promptConfig: { promptTemplate: 'Sum up: {{article}}', systemPrompt: 'Be brief.', sourcePrice } })

describe('POST /rda/{identifier}/source → 200', () => {
  let service: TestService
  let creator: TestPerson

  beforeAll(async () => {
    service = await testService({ ...ALLOWED, PLATFORM_FEE_BPS: '1000' })
    creator = await service.person()
  })
  afterEach(async () => {
    expect(await service.ledger.differences()).toEqual([])
  })
  afterAll(async () => {
    await service.close()
  })

  const balance = async (person: TestPerson): Promise<number> =>
    (await person.call('GET', '/v1/wallet/balance')).body.wallet.balance as number

  test('twenty concurrent requests charge once, pay the creator less the fee, and unlock it for good', async () => {
    const slug = await published(creator, source(0.5))
    const buyer = await service.person()
    await buyer.call('POST', '/v1/wallet/deposit', { body: { amount: 20 } })
    const earned = await balance(creator)
    const requests = Array.from({ length: 20 }, () => buyer.call('POST', `/v1/rda/${slug}/source`))
    const answers = await Promise.all(requests)
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(200))
    expect(answers.map(({ body }) => body.cost as number).sort()).toEqual([...Array<number>(19).fill(0), 0.5])
    for (const { body } of answers) {
      expect(body.source).toEqual({
        rdaId: expect.stringMatching(/^rda_/),
        version: '1.0.0',
        promptTemplate: 'Sum up: {{article}}',
        systemPrompt: 'Be brief.',
      })
    }
    expect(await balance(buyer)).toBe(19.5)
    expect(await balance(creator)).toBeCloseTo(earned + 0.45, 6)
    expect((await buyer.call('GET', `/v1/rda/${slug}`)).body.rda.promptConfig.promptTemplate).toBe(
      'Sum up: {{article}}',
    )
    expect((await service.call('GET', `/v1/rda/${slug}`)).body.rda.promptConfig.promptTemplate).toBeNull()

    // Sold once, so it is once in what the asset brought in.
    await foldStats(service.database.statements)
    expect((await service.call('GET', `/v1/rda/${slug}`)).body.rda.stats).toMatchObject({
      totalRuns: 0,
      totalRevenue: 0.5,
    })

    // A dearer price, or none at all, later on is not for those who have it.
    await creator.call('PATCH', `/v1/rda/${slug}`, { body: { promptConfig: { sourcePrice: null } } })
    expect((await buyer.call('POST', `/v1/rda/${slug}/source`)).body).toMatchObject({ cost: 0 })
  })

  test('costs nothing for its creator, nor for any reader where its price is zero', async () => {
    const paid = await published(creator, source(0.5))
    expect((await creator.call('POST', `/v1/rda/${paid}/source`)).body.cost).toBe(0)
    const free = await published(creator, source(0))
    const reader = await service.person()
    expect((await reader.call('POST', `/v1/rda/${free}/source`)).body).toMatchObject({
      cost: 0,
      source: { promptTemplate: 'Sum up: {{article}}' },
    })
    expect(await balance(reader)).toBe(0)
  })

  test.each(['archive', 'unpublish'])(
    'who bought it reads it after %s, in the version that was published last, and nobody else does',
    async (act) => {
      const slug = await published(creator, source(0.5))
      const buyer = await service.person()
      await buyer.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })
      expect((await buyer.call('POST', `/v1/rda/${slug}/source`)).body.cost).toBe(0.5)
      expect((await creator.call('POST', `/v1/rda/${slug}/${act}`)).status).toBe(200)
      await creator.call('PATCH', `/v1/rda/${slug}`, {
        body: { promptConfig: { promptTemplate: 'Shorten: {{article}}' } },
      })

      const reads = async (template: string, version: string) => {
        const { status, body } = await buyer.call('POST', `/v1/rda/${slug}/source`)
        expect([status, body]).toMatchObject([200, { cost: 0, source: { promptTemplate: template, version } }])
        const { rda } = (await buyer.call('GET', `/v1/rda/${slug}`)).body
        expect(rda).toMatchObject({ version, promptConfig: { promptTemplate: template } })
      }
      await reads('Sum up: {{article}}', '1.0.0')
      const own = await creator.call('GET', `/v1/rda/${slug}`)
      expect(own.body.rda.promptConfig.promptTemplate).toBe('Shorten: {{article}}')

      const body = { rdaSlug: slug, inputs: { article: 'Once' } }
      expect((await buyer.call('POST', '/v1/run', { body })).status).toBe(404)
      const stranger = await service.person()
      expect((await stranger.call('GET', `/v1/rda/${slug}`)).status).toBe(404)
      expect((await stranger.call('POST', `/v1/rda/${slug}/source`)).status).toBe(404)
      await creator.call('POST', `/v1/rda/${slug}/publish`)
      await reads('Shorten: {{article}}', '1.1.0')
    },
  )
})

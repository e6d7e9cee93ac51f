import { createAssetStore } from '../../../service/marketplace/store/assets/assets.ts'
import { agentBody, ALLOWED, promptBody, published, run, toolBody } from '../../marketplace/bodies.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('GET /rda/{identifier} → 200', () => {
  let service: TestService
  let creator: TestPerson
  let reader: TestPerson

  beforeAll(async () => {
    service = await testService(ALLOWED)
    creator = await service.person()
    reader = await service.person()
  })
  afterAll(async () => {
    await service.close()
  })

  test('the store gives each of several at the same moment the asset of its slug', async () => {
    const [one, other] = [await published(creator, promptBody()), await published(creator, promptBody())]
    const store = createAssetStore(service.testDatabase.statements)
    const asked = [other, one, 'no-such-thing', one, other]
    const found = await Promise.all(asked.map((slug) => store.find('sandbox', slug)))
    expect(found.map((asset) => asset?.asset.slug)).toEqual([other, one, undefined, one, other])
    expect(await store.find('production', one)).toBeNull()
  })

  test('returns the full object, field by field', async () => {
    const slug = await published(
      creator,
      promptBody({
        longDescription: 'All about it',
        tags: ['text', 'short'],
        coverImage: 'https://example.com/cover.png',
        codeSnippet: 'curl …',
        codeLanguage: 'sh',
        outputSchema: { type: 'text' },
        promptConfig: {
          promptTemplate: 'Sum up: {{article}}',
          systemPrompt: 'Be brief.',
          allowedModels: ['sandbox/echo'],
          sourcePrice: 0,
          examples: [{ title: 'A tale', inputs: { article: 'Once' }, output: 'Short', model: 'sandbox/echo' }],
        },
      }),
    )
    const { status, body } = await service.call('GET', `/v1/rda/${slug}`)
    expect(status).toBe(200)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string
    const plain = {
      placeholder: null,
      options: null,
      description: null,
      default: null,
      min: null,
      max: null,
      pattern: null,
      patternMessage: null,
    }
    expect(body).toEqual({
      rda: {
        id: expect.stringMatching(/^rda_[0-9a-z]{26}$/),
        slug,
        name: 'Summarizer',
        description: 'Sums up an article in a few sentences',
        longDescription: 'All about it',
        type: 'prompt',
        status: 'published',
        verified: false,
        featured: false,
        trending: false,
        tags: ['text', 'short'],
        coverImage: 'https://example.com/cover.png',
        codeSnippet: 'curl …',
        codeLanguage: 'sh',
        version: '1.0.0',
        schema: {
          inputs: [
            { ...plain, name: 'article', label: 'Article', type: 'text', required: true, placeholder: 'Paste it here' },
            { ...plain, name: 'tone', label: 'Tone', type: 'select', required: false, options: ['plain', 'formal'] },
          ],
          outputs: { type: 'text' },
        },
        promptConfig: {
          promptTemplate: 'Sum up: {{article}}',
          systemPrompt: 'Be brief.',
          allowedModels: [{ id: 'sandbox/echo', name: expect.any(String), tier: 'fast' }],
          defaultModelId: 'sandbox/echo',
          sourcePrice: 0,
          freeRunsPerDay: null,
          examples: [
            { id: 'ex_1', title: 'A tale', inputs: { article: 'Once' }, output: 'Short', model: 'sandbox/echo' },
          ],
        },
        sharesInputs: false,
        agentConfig: null,
        toolConfig: null,
        pricing: { model: 'per-run', amount: 0.02, currency: 'USDC', estimatedCost: '0.02 USDC', maxCost: 0.02 },
        stats: { totalRuns: 0, totalRevenue: 0, averageRating: 0, totalRatings: 0, successRate: 0, averageLatency: 0 },
        ownerId: creator.caller.subject,
        ownerName: creator.caller.user.name,
        ownerVerified: false,
        createdAt: time,
        updatedAt: time,
        publishedAt: time,
      },
    })
  })

  test('accepts the id like the slug', async () => {
    const slug = await published(creator)
    const bySlug = await service.call('GET', `/v1/rda/${slug}`)
    const byId = await service.call('GET', `/v1/rda/${bySlug.body.rda.id as string}`)
    expect(byId.body).toEqual(bySlug.body)
  })

  test('a draft, for its owner', async () => {
    const body = promptBody()
    await creator.call('POST', '/v1/rda', { body })
    const { rda } = (await creator.call('GET', `/v1/rda/${String(body['slug'])}`)).body
    expect(rda).toMatchObject({ status: 'draft', publishedAt: null })
    expect(rda.promptConfig.promptTemplate).toBe('Sum up in a {{tone}} tone: {{article}}')
  })

  test('a template that is not shown to all is its owner’s secret', async () => {
    for (const sourcePrice of [null, 0.5]) {
      const config = { promptTemplate: 'Sum up: {{article}}', systemPrompt: 'Be brief.', sourcePrice }
      const slug = await published(creator, promptBody({ promptConfig: config }))
      for (const answer of [
        await service.call('GET', `/v1/rda/${slug}`),
        await reader.call('GET', `/v1/rda/${slug}`),
      ]) {
        expect(answer.body.rda.promptConfig).toMatchObject({ promptTemplate: null, systemPrompt: null, sourcePrice })
        expect(answer.text).not.toContain('Sum up: ')
      }
      expect((await creator.call('GET', `/v1/rda/${slug}`)).body.rda.promptConfig).toMatchObject(config)
    }
  })

  test('an agent: its owner sees where it is and masks, others neither', async () => {
    const slug = await published(creator, agentBody())
    const mine = await creator.call('GET', `/v1/rda/${slug}`)
    expect(mine.body.rda.agentConfig).toEqual({
      webhookUrl: 'http://127.0.0.1:9/agent',
      webhookMethod: 'POST',
      webhookHeaders: { Authorization: '••••' },
      timeoutSeconds: 60,
      maxRetries: 2,
      pollUrl: null,
      pollIntervalMs: 2000,
      basePrice: 0.25,
      examples: [],
    })
    const theirs = await reader.call('GET', `/v1/rda/${slug}`)
    expect(theirs.body.rda.agentConfig).toEqual({
      webhookUrl: null,
      webhookMethod: null,
      webhookHeaders: null,
      timeoutSeconds: 60,
      maxRetries: 2,
      pollUrl: null,
      pollIntervalMs: 2000,
      basePrice: 0.25,
      examples: [],
    })
    for (const { text } of [mine, theirs]) expect(text).not.toContain('creators-own-secret')
  })

  test.each([
    ['agentConfig', agentBody(), 'topic'],
    ['toolConfig', toolBody(), 'city'],
  ] as const)('the samples of %s, to everyone, also after an edit of something else', async (at, body, input) => {
    const sample = { title: 'A short one', inputs: { [input]: 'Turin' }, output: '21 degrees' }
    const slug = await published(creator, { ...body, [at]: { ...(body[at] as object), examples: [sample] } })
    await creator.call('PATCH', `/v1/rda/${slug}`, { body: { name: 'Renamed', [at]: { basePrice: 0.5 } } })
    const { rda } = (await service.call('GET', `/v1/rda/${slug}`)).body
    expect(rda[at].examples).toEqual([{ id: 'ex_1', ...sample }])
    await creator.call('PATCH', `/v1/rda/${slug}`, { body: { [at]: { examples: null } } })
    expect((await service.call('GET', `/v1/rda/${slug}`)).body.rda[at].examples).toEqual([])
  })

  test('a tool: its owner sees where it is and masks, others neither', async () => {
    const slug = await published(creator, toolBody())
    const mine = await creator.call('GET', `/v1/rda/${slug}`)
    expect(mine.body.rda.toolConfig).toEqual({
      apiEndpoint: 'http://127.0.0.1:9/weather',
      apiMethod: 'GET',
      apiHeaders: { 'X-Client': '••••' },
      authType: 'api_key',
      authConfig: { headerName: 'X-API-Key', apiKey: '••••' },
      requestTransform: null,
      responseTransform: 'temperature',
      timeoutSeconds: 25,
      rateLimitPerMinute: null,
      basePrice: 0.01,
      examples: [],
    })
    const theirs = await service.call('GET', `/v1/rda/${slug}`)
    expect(theirs.body.rda.toolConfig).toMatchObject({ apiEndpoint: null, apiHeaders: null, authConfig: null })
    for (const { text } of [mine, theirs]) expect(text).not.toMatch(/creators-(client-id|api-key)/)
  })

  test('shows an archived asset to its owner and to earlier callers', async () => {
    const slug = await published(creator)
    await run(reader, slug)
    await creator.call('POST', `/v1/rda/${slug}/archive`)
    expect((await creator.call('GET', `/v1/rda/${slug}`)).body.rda.status).toBe('archived')
    expect((await reader.call('GET', `/v1/rda/${slug}`)).body.rda.status).toBe('archived')
    expect((await (await service.person()).call('GET', `/v1/rda/${slug}`)).status).toBe(404)
    expect((await service.call('GET', `/v1/rda/${slug}`)).status).toBe(404)
  })
})

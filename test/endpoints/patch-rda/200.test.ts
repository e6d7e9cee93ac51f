import { agentBody, ALLOWED, promptBody, published, toolBody } from '../../marketplace/bodies.ts'
import { liveSettings } from '../../harness/live.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('PATCH /rda/{identifier} → 200', () => {
  let service: TestService
  let creator: TestPerson

  beforeAll(async () => {
    service = await testService(ALLOWED)
    creator = await service.person()
  })
  afterAll(async () => {
    await service.close()
  })

  async function edited(slug: string, body: Record<string, unknown>): Promise<Configs> {
    const answer = await creator.call('PATCH', `/v1/rda/${slug}`, { body })
    expect(answer.status).toBe(200)
    expect((await creator.call('GET', `/v1/rda/${slug}`)).body.rda).toEqual(answer.body.rda)
    return answer.body.rda as Configs
  }

  test('bumps the patch version for descriptive fields, and the minor one for fields that runs use', async () => {
    const slug = await published(creator)
    expect(await edited(slug, { name: 'Renamed' })).toMatchObject({ name: 'Renamed', version: '1.0.1' })
    const changed = { promptConfig: { promptTemplate: 'Short: {{article}}' } }
    expect(await edited(slug, changed)).toMatchObject({ version: '1.1.0', name: 'Renamed' })
    expect(await edited(slug, { tags: ['new'] })).toMatchObject({ version: '1.1.1', tags: ['new'] })
    expect(await edited(slug, { pricing: { model: 'per-run', amount: 2 } })).toMatchObject({
      version: '1.2.0',
      pricing: { model: 'per-run', amount: 2 },
    })
  })

  test('changes only the fields sent; null resets a field', async () => {
    const slug = await published(
      creator,
      promptBody({ longDescription: 'Long', coverImage: 'https://example.com/a.png' }),
    )
    const config = { promptConfig: { systemPrompt: 'Be kind.' } }
    const rda = await edited(slug, { ...config, coverImage: null })
    expect(rda).toMatchObject({ longDescription: 'Long', coverImage: null, status: 'published' })
    expect(rda.promptConfig).toMatchObject({
      promptTemplate: 'Sum up in a {{tone}} tone: {{article}}',
      systemPrompt: 'Be kind.',
    })
  })

  test('is searched by the new name, and not by the old one', async () => {
    const slug = await published(creator, promptBody({ name: 'Quokka' }))
    await edited(slug, { name: 'Wallaby' })
    expect((await service.call('GET', '/v1/rdas?search=quokka')).body.total).toBe(0)
    expect((await service.call('GET', '/v1/rdas?search=wallaby')).body).toMatchObject({ total: 1, rdas: [{ slug }] })
  })

  test('keeps a header sent as its mask, removes one left out, and never changes old versions', async () => {
    const slug = await published(creator, agentBody())
    const before = await service.testDatabase.statements.run(VERSIONS, [slug])
    const headers = { Authorization: '••••', 'X-New': 'new-secret' }
    const rda = await edited(slug, { agentConfig: { webhookHeaders: headers, timeoutSeconds: 30 } })
    expect(rda.agentConfig).toMatchObject({
      webhookUrl: 'http://127.0.0.1:9/agent',
      webhookHeaders: { Authorization: '••••', 'X-New': '••••' },
      timeoutSeconds: 30,
    })
    const cleared = await edited(slug, { agentConfig: { webhookHeaders: {} } })
    expect(cleared.agentConfig['webhookHeaders']).toEqual({})
    // Versions are never changed: a run that began with the first one still has its headers.
    const after = await service.testDatabase.statements.run(VERSIONS, [slug])
    expect(after).toHaveLength(3)
    expect(after[0]).toEqual(before[0])
  })

  test('replaces the authentication as a whole', async () => {
    const slug = await published(creator, toolBody())
    const unchanged = await edited(slug, { toolConfig: { rateLimitPerMinute: 5 } })
    expect(unchanged.toolConfig).toMatchObject({
      authConfig: { headerName: 'X-API-Key', apiKey: '••••' },
      rateLimitPerMinute: 5,
    })
    const bearer = await edited(slug, { toolConfig: { authType: 'bearer', authConfig: { token: 'a-token' } } })
    expect(bearer.toolConfig).toMatchObject({ authType: 'bearer', authConfig: { token: '••••' } })
    expect((await edited(slug, { toolConfig: { authType: null, authConfig: null } })).toolConfig).toMatchObject({
      authType: 'none',
      authConfig: {},
    })
  })

  test('ten edits of different fields at the same moment are all there in the end', async () => {
    const slug = await published(creator)
    const edits = [
      { name: 'N' },
      { description: 'D' },
      { longDescription: 'L' },
      { tags: ['t'] },
      { coverImage: 'https://example.com/c.png' },
    ]
    const answers = await Promise.all(edits.map((body) => creator.call('PATCH', `/v1/rda/${slug}`, { body })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const { rda } = (await creator.call('GET', `/v1/rda/${slug}`)).body
    expect(rda).toMatchObject(Object.assign({ version: '1.0.5' }, ...edits) as object)
  })
})

describe('PATCH /rda/{identifier} → 200, where there are several models', () => {
  let service: TestService
  let creator: TestPerson

  beforeAll(async () => {
    // No model is called.
    service = await testService({ ...liveSettings(), MODELS_BASE_URL: 'http://127.0.0.1:9/v1', MODELS_API_KEY: 'none' })
    creator = await service.person({ environment: 'production' })
  })
  afterAll(() => service.close())

  const first = 'gpt-4o-mini'
  test.each([
    ['is the only one where one was chosen', { defaultModelId: 'gpt-4.1' }, 'gpt-4.1-mini', ['gpt-4.1-mini']],
    ['is the only one where none was chosen', {}, 'gpt-4.1-mini', ['gpt-4.1-mini']],
    ['is the first one again after null', { defaultModelId: 'gpt-4.1' }, null, [first]],
    ['is one of several', { allowedModels: ['gpt-4.1', 'gpt-4.1-mini'] }, 'gpt-4.1-mini', ['gpt-4.1', 'gpt-4.1-mini']],
  ])('the default model %s', async (_, models, defaultModelId, allowed) => {
    const config = { promptTemplate: 'Sum up in a {{tone}} tone: {{article}}', ...models }
    const slug = await published(creator, promptBody({ promptConfig: config }))
    const edit = { promptConfig: { defaultModelId } }
    const answer = await creator.call('PATCH', `/v1/rda/${slug}`, { body: edit })
    expect([answer.status, answer.body.details]).toEqual([200, undefined])
    const { promptConfig } = answer.body.rda as {
      promptConfig: { defaultModelId: string; allowedModels: { id: string }[] }
    }
    expect(promptConfig.defaultModelId).toBe(defaultModelId ?? first)
    expect(promptConfig.allowedModels.map(({ id }) => id)).toEqual(allowed)
  })
})

const VERSIONS = `
SELECT v.version, v.content FROM rda_version v JOIN rda r ON r.id = v.rda_id WHERE r.slug = $1 ORDER BY v.created_at, v.version`

type Configs = Record<'promptConfig' | 'agentConfig' | 'toolConfig', Record<string, unknown>>

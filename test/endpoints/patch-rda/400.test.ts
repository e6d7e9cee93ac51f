import { agentBody, ALLOWED, promptBody, published } from '../../marketplace/bodies.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('PATCH /rda/{identifier} → 400', () => {
  let service: TestService
  let creator: TestPerson
  let prompt: string
  let agent: string

  beforeAll(async () => {
    service = await testService(ALLOWED)
    creator = await service.person()
    prompt = await published(creator, promptBody())
    agent = await published(creator, agentBody())
  })
  afterAll(async () => {
    for (const slug of [prompt, agent]) {
      expect((await creator.call('GET', `/v1/rda/${slug}`)).body.rda.version).toBe('1.0.0')
    }
    await service.close()
  })

  test.each([
    ['nothing', {}, 'body', 'must change something'],
    ['another slug', { slug: 'other' }, 'slug', 'is not known'],
    ['another type', { type: 'tool' }, 'type', 'is not known'],
    ['a mark', { featured: true }, 'featured', 'is not known'],
    ['no name', { name: null }, 'name', 'must be a string'],
    ['no inputs', { inputSchema: [] }, 'inputSchema', 'at least one input'],
    [
      'inputs removed that the template still needs',
      { inputSchema: [{ name: 'other', type: 'text' }] },
      'promptConfig.promptTemplate',
      '{{tone}}',
    ],
    [
      'an unknown variable',
      { promptConfig: { promptTemplate: '{{nothing}}' } },
      'promptConfig.promptTemplate',
      '{{nothing}}',
    ],
    ['no template', { promptConfig: { promptTemplate: null } }, 'promptConfig.promptTemplate', 'is required'],
    ["another type's configuration", { toolConfig: { apiMethod: 'GET' } }, 'toolConfig', 'tool only'],
  ])('of a prompt: %s', async (_, body, field, message) => {
    const answer = await creator.call('PATCH', `/v1/rda/${prompt}`, { body })
    expect(answer.status).toBe(400)
    expect(answer.body.details).toEqual({ [field]: expect.stringContaining(message) })
  })

  test.each([
    ['a private address', { webhookUrl: 'http://10.0.0.1/' }, 'agentConfig.webhookUrl', 'cannot be called'],
    [
      'a mask of a header that never existed',
      { webhookHeaders: { New: '••••' } },
      'agentConfig.webhookHeaders.New',
      'not its mask',
    ],
  ])('of an agent: %s', async (_, agentConfig, field, message) => {
    const answer = await creator.call('PATCH', `/v1/rda/${agent}`, { body: { agentConfig } })
    expect(answer.status).toBe(400)
    expect(answer.body.details).toEqual({ [field]: expect.stringContaining(message) })
  })
})

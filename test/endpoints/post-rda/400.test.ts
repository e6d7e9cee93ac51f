import { agentBody, ALLOWED, promptBody, slugOf, toolBody } from '../../marketplace/bodies.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

type Changes = Record<string, unknown>
type Case = [what: string, changes: Changes, field: string, message: string]

describe('POST /rda → 400', () => {
  let service: TestService
  let person: TestPerson

  beforeAll(async () => {
    service = await testService(ALLOWED)
    person = await service.person()
  })
  afterEach(async () => {
    const { body } = await person.call('GET', '/v1/rdas?status=draft')
    expect(body.total).toBe(0)
  })
  afterAll(async () => {
    await service.close()
  })

  /** Exactly this field, so that a fault never hides behind another. */
  async function expectFault(body: unknown, field: string, message: string): Promise<void> {
    const answer = await person.call('POST', '/v1/rda', { body })
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code: 'invalid_input' })
    expect(answer.body.details).toEqual({ [field]: expect.stringContaining(message) })
    expect(answer.body.error).toContain(field)
  }

  const input = { name: 'article', label: 'Article', type: 'text', required: true }
  const NOTHING = undefined

  const everyField: Case[] = [
    ['no slug', { slug: NOTHING }, 'slug', 'is required'],
    ['a slug that is a number', { slug: 7 }, 'slug', 'must be a string'],
    ['an empty slug', { slug: '' }, 'slug', 'must'],
    ['a slug in capitals', { slug: 'Summary' }, 'slug', 'lower-case'],
    ['a slug that looks like an id', { slug: 'rda_01' }, 'slug', 'lower-case'],
    ['a slug with a hyphen at its end', { slug: 'summary-' }, 'slug', 'lower-case'],
    ['a slug with two hyphens', { slug: 'a--b' }, 'slug', 'lower-case'],
    ['a slug that is too long', { slug: 'a'.repeat(101) }, 'slug', 'at most 100'],
    ['no type', { type: NOTHING }, 'type', 'must be one of'],
    ['an unknown type', { type: 'workflow' }, 'type', 'must be one of prompt, agent, tool'],
    ['no name', { name: NOTHING }, 'name', 'is required'],
    ['an empty name', { name: '' }, 'name', 'must not be empty'],
    ['a name of spaces', { name: '  ' }, 'name', 'must not be empty'],
    ['a name of two lines', { name: 'a\nb' }, 'name', 'one line'],
    ['a name that is too long', { name: 'a'.repeat(121) }, 'name', 'at most 120'],
    ['a name with a NUL', { name: 'a\0' }, 'name', 'NUL'],
    ['no description', { description: NOTHING }, 'description', 'is required'],
    ['a description that is a list', { description: ['a'] }, 'description', 'must be a string'],
    ['a description that is too long', { description: 'a'.repeat(1001) }, 'description', 'at most 1000'],
    ['no input schema', { inputSchema: NOTHING }, 'inputSchema', 'is required'],
    ['an input schema that is an object', { inputSchema: {} }, 'inputSchema', 'must be an array'],
    ['a long description that is a number', { longDescription: 1 }, 'longDescription', 'must be a string'],
    ['a long description that is too long', { longDescription: 'a'.repeat(20_001) }, 'longDescription', 'at most'],
    ['tags that are a text', { tags: 'seo' }, 'tags', 'must be an array'],
    ['a tag that is a number', { tags: [1] }, 'tags.0', 'must be a string'],
    ['an empty tag', { tags: [''] }, 'tags.0', 'must not be empty'],
    ['a tag twice', { tags: ['seo', 'seo'] }, 'tags', 'repeat'],
    ['too many tags', { tags: Array.from({ length: 21 }, (_, i) => `t${String(i)}`) }, 'tags', 'at most 20'],
    ['a cover image that is no address', { coverImage: 'cover.png' }, 'coverImage', 'http or https'],
    ['a cover image that runs', { coverImage: 'javascript:alert(1)' }, 'coverImage', 'http or https'],
    ['a cover image of data', { coverImage: 'data:image/png;base64,AAAA' }, 'coverImage', 'http or https'],
    ['a cover image with a password', { coverImage: 'https://a:b@example.com/c.png' }, 'coverImage', 'http or https'],
    ['code that is an object', { codeSnippet: {} }, 'codeSnippet', 'must be a string'],
    ['a code language that is a number', { codeLanguage: 3 }, 'codeLanguage', 'must be a string'],
    ['an output schema that is a text', { outputSchema: 'markdown' }, 'outputSchema', 'must be an object'],
    ['an unknown output type', { outputSchema: { type: 'html' } }, 'outputSchema.type', 'must be one of'],
    ['an output schema with more in it', { outputSchema: { type: 'text', a: 1 } }, 'outputSchema.a', 'is not known'],
    ['an unknown field', { owner: 'me' }, 'owner', 'is not known'],
    ['a mark that only the operator sets', { verified: true }, 'verified', 'is not known'],
    ['a status', { status: 'published' }, 'status', 'is not known'],
  ]
  test.each(everyField)('%s', async (_, changes, field, message) => {
    await expectFault(promptBody(changes), field, message)
  })

  const schemas: Case[] = [
    ['is empty', { inputSchema: [] }, 'inputSchema', 'at least one input'],
    ['has a name twice', { inputSchema: [input, { ...input, type: 'number' }] }, 'inputSchema.1.name', 'another field'],
    ['has an input without a name', { inputSchema: [{ type: 'text' }] }, 'inputSchema.0.name', 'is required'],
    ['has a name with a space', { inputSchema: [{ ...input, name: 'an article' }] }, 'inputSchema.0.name', 'letter'],
    ['has an unknown type', { inputSchema: [{ ...input, type: 'colour' }] }, 'inputSchema.0.type', 'must be one of'],
    [
      'has a select without options',
      { inputSchema: [{ ...input, type: 'select' }] },
      'inputSchema.0.options',
      'is required',
    ],
    ['has options on a text', { inputSchema: [{ ...input, options: ['a'] }] }, 'inputSchema.0.options', 'select only'],
    ['has an unknown part', { inputSchema: [{ ...input, secret: 1 }] }, 'inputSchema.0.secret', 'is not known'],
    ['has a pattern that takes for ever', { inputSchema: [{ ...input, pattern: '(' }] }, 'inputSchema.0.pattern', ''],
  ]
  test.each(schemas)('an input schema that %s', async (_, changes, field, message) => {
    await expectFault(promptBody({ promptConfig: { promptTemplate: 'Hello' }, ...changes }), field, message)
  })

  const prompts: [string, Changes | null, string, string][] = [
    ['none', null, 'promptConfig', 'is required for a prompt'],
    ['no template', {}, 'promptConfig.promptTemplate', 'is required'],
    ['an empty template', { promptTemplate: '' }, 'promptConfig.promptTemplate', 'must not be empty'],
    [
      'a template with an unknown variable',
      { promptTemplate: 'Say {{word}}' },
      'promptConfig.promptTemplate',
      '{{word}}',
    ],
    ['a template with a block', { promptTemplate: '{{#if tone}}' }, 'promptConfig.promptTemplate', 'no variable'],
    [
      'a system prompt with an unknown variable',
      { promptTemplate: 'a', systemPrompt: '{{who}}' },
      'promptConfig.systemPrompt',
      '{{who}}',
    ],
    [
      'an unknown model',
      { promptTemplate: 'a', allowedModels: ['gpt-99'] },
      'promptConfig.allowedModels.0',
      'not a model',
    ],
    [
      'a model twice',
      { promptTemplate: 'a', allowedModels: ['sandbox/echo', 'sandbox/echo'] },
      'promptConfig.allowedModels.1',
      'repeated',
    ],
    ['no models', { promptTemplate: 'a', allowedModels: [] }, 'promptConfig.allowedModels', 'at least one model'],
    [
      'models as a text',
      { promptTemplate: 'a', allowedModels: 'sandbox/echo' },
      'promptConfig.allowedModels',
      'must be an array',
    ],
    [
      'an unknown default model',
      { promptTemplate: 'a', defaultModelId: 'gpt-99' },
      'promptConfig.defaultModelId',
      'not a model',
    ],
    ['a negative source price', { promptTemplate: 'a', sourcePrice: -1 }, 'promptConfig.sourcePrice', 'negative'],
    [
      'a source price of seven decimals',
      { promptTemplate: 'a', sourcePrice: 0.0000001 },
      'promptConfig.sourcePrice',
      '6 decimals',
    ],
    ['examples that are an object', { promptTemplate: 'a', examples: {} }, 'promptConfig.examples', 'must be an array'],
    [
      'an example without a title',
      { promptTemplate: 'a', examples: [{ inputs: {}, output: 'b' }] },
      'promptConfig.examples.0.title',
      'is required',
    ],
    [
      'an example with an unknown input',
      { promptTemplate: 'a', examples: [{ title: 't', inputs: { x: 1 }, output: 'b' }] },
      'promptConfig.examples.0.inputs.x',
      'not an input',
    ],
    ['an unknown part', { promptTemplate: 'a', temperature: 1 }, 'promptConfig.temperature', 'is not known'],
  ]
  test.each(prompts)('promptConfig: %s', async (_, config, field, message) => {
    await expectFault(promptBody({ promptConfig: config }), field, message)
  })

  const agents: [string, Changes | null, string, string][] = [
    ['none', null, 'agentConfig', 'is required for an agent'],
    ['no webhook', {}, 'agentConfig.webhookUrl', 'is required'],
    ['a webhook that is no address', { webhookUrl: 'nowhere' }, 'agentConfig.webhookUrl', 'http or https'],
    ['a webhook by another protocol', { webhookUrl: 'ftp://example.com' }, 'agentConfig.webhookUrl', 'http or https'],
    [
      'a webhook at a private address',
      { webhookUrl: 'http://10.0.0.1/' },
      'agentConfig.webhookUrl',
      'cannot be called',
    ],
    [
      'a webhook at this very machine',
      { webhookUrl: 'http://127.0.0.1:80/' },
      'agentConfig.webhookUrl',
      'cannot be called',
    ],
    ['a webhook at localhost', { webhookUrl: 'http://localhost/' }, 'agentConfig.webhookUrl', 'cannot be called'],
    [
      'a webhook at the cloud metadata',
      { webhookUrl: 'http://169.254.169.254/latest' },
      'agentConfig.webhookUrl',
      'cannot be called',
    ],
    [
      'a webhook at an address in disguise',
      { webhookUrl: 'http://0x7f000001/' },
      'agentConfig.webhookUrl',
      'cannot be called',
    ],
    ['a webhook at IPv6 loopback', { webhookUrl: 'http://[::1]/' }, 'agentConfig.webhookUrl', 'cannot be called'],
    ['a poll address that is private', { pollUrl: 'http://192.168.1.1/' }, 'agentConfig.pollUrl', 'cannot be called'],
    ['an unknown method', { webhookMethod: 'TRACE' }, 'agentConfig.webhookMethod', 'must be one of'],
    ['a method without a body', { webhookMethod: 'GET' }, 'agentConfig.webhookMethod', 'must be POST'],
    [
      'a sample with an unknown input',
      { webhookUrl: 'http://127.0.0.1:9/', examples: [{ title: 't', inputs: { x: 1 }, output: 'b' }] },
      'agentConfig.examples.0.inputs.x',
      'is not an input of this asset',
    ],
    [
      'a sample by a model, which an agent does not choose',
      { examples: [{ title: 't', inputs: {}, output: 'b', model: 'sandbox/echo' }] },
      'agentConfig.examples.0.model',
      'is not known',
    ],
    ['headers that are a list', { webhookHeaders: [] }, 'agentConfig.webhookHeaders', 'must be a'],
    ['a header that is a number', { webhookHeaders: { a: 1 } }, 'agentConfig.webhookHeaders.a', 'must be a string'],
    [
      'a header name with a space',
      { webhookHeaders: { 'a b': 'c' } },
      'agentConfig.webhookHeaders.a b',
      'not a header name',
    ],
    [
      'a header that frames',
      { webhookHeaders: { 'Content-Length': '3' } },
      'agentConfig.webhookHeaders.Content-Length',
      'service itself',
    ],
    [
      'a header of two lines',
      { webhookHeaders: { a: 'b\r\nc: d' } },
      'agentConfig.webhookHeaders.a',
      'HTTP does not allow',
    ],
    ['a mask where nothing was', { webhookHeaders: { a: '••••' } }, 'agentConfig.webhookHeaders.a', 'not its mask'],
    ['no time', { timeoutSeconds: 0 }, 'agentConfig.timeoutSeconds', 'at least 1'],
    ['too much time', { timeoutSeconds: 181 }, 'agentConfig.timeoutSeconds', 'at most 180'],
    ['half a retry', { maxRetries: 0.5 }, 'agentConfig.maxRetries', 'whole number'],
    ['too many retries', { maxRetries: 6 }, 'agentConfig.maxRetries', 'at most 5'],
    ['polls too often', { pollIntervalMs: 10 }, 'agentConfig.pollIntervalMs', 'at least 100'],
    ['a price that is a text', { basePrice: '1' }, 'agentConfig.basePrice', 'must be a number'],
    ['a negative price', { basePrice: -0.1 }, 'agentConfig.basePrice', 'negative'],
    ['an unknown part', { secret: 'a' }, 'agentConfig.secret', 'is not known'],
  ]
  test.each(agents)('agentConfig: %s', async (_, changes, field, message) => {
    const webhook = changes !== null && Object.keys(changes).length === 0 ? {} : { webhookUrl: 'http://127.0.0.1:9/' }
    const agentConfig = changes === null ? null : { ...webhook, ...changes }
    await expectFault(agentBody({ agentConfig }), field, message)
  })

  const tools: [string, Changes | null, string, string][] = [
    ['none', null, 'toolConfig', 'is required for a tool'],
    ['no endpoint', { apiEndpoint: NOTHING }, 'toolConfig.apiEndpoint', 'is required'],
    [
      'an endpoint at a private address',
      { apiEndpoint: 'https://10.1.2.3/' },
      'toolConfig.apiEndpoint',
      'cannot be called',
    ],
    ['an endpoint that is no address', { apiEndpoint: 5 }, 'toolConfig.apiEndpoint', 'must be a string'],
    ['an unknown method', { apiMethod: 'get' }, 'toolConfig.apiMethod', 'must be one of'],
    ['a header that names the host', { apiHeaders: { Host: 'a' } }, 'toolConfig.apiHeaders.Host', 'service itself'],
    ['an unknown authentication', { authType: 'oauth2' }, 'toolConfig.authType', 'must be one of'],
    ['an api_key without a header', { authType: 'api_key' }, 'toolConfig.authConfig.headerName', 'is required'],
    [
      'an api_key in no header',
      { authType: 'api_key', authConfig: { headerName: 'a b' } },
      'toolConfig.authConfig.headerName',
      'not a header name',
    ],
    ['a bearer without a token', { authType: 'bearer', authConfig: {} }, 'toolConfig.authConfig.token', 'is required'],
    [
      'basic without a password',
      { authType: 'basic', authConfig: { username: 'a' } },
      'toolConfig.authConfig.password',
      'is required',
    ],
    [
      'a token with no authentication',
      { authConfig: { token: 'a' } },
      'toolConfig.authConfig.token',
      'is not for none',
    ],
    [
      'an unknown secret',
      { authType: 'bearer', authConfig: { token: 'a', key: 'b' } },
      'toolConfig.authConfig.key',
      'is not known',
    ],
    ['an invalid transform', { requestTransform: '{{{' }, 'toolConfig.requestTransform', 'is not JSONata'],
    [
      'a transform that loops',
      { requestTransform: '($f := function($x) { $f($x) }; $f(1))' },
      'toolConfig.requestTransform',
      'does not end',
    ],
    [
      'an answer transform that loops',
      { responseTransform: '($f := function($x) { $f($x) }; $f(1))' },
      'toolConfig.responseTransform',
      'does not end',
    ],
    ['a time of more than a minute', { timeoutSeconds: 61 }, 'toolConfig.timeoutSeconds', 'at most 60'],
    ['a limit of nothing', { rateLimitPerMinute: 0 }, 'toolConfig.rateLimitPerMinute', 'at least 1'],
    ['a price beyond the largest', { basePrice: 1e12 }, 'toolConfig.basePrice', 'at most'],
    ['an unknown part', { apiKey: 'a' }, 'toolConfig.apiKey', 'is not known'],
  ]
  test.each(tools)('toolConfig: %s', async (_, changes, field, message) => {
    const toolConfig = changes === null ? null : { apiEndpoint: 'http://127.0.0.1:9/', ...changes }
    await expectFault(toolBody({ toolConfig }), field, message)
  })

  const prices: [string, () => Changes, unknown, string, string][] = [
    ['a number', promptBody, 1, 'pricing', 'must be an object'],
    ['an unknown model', promptBody, { model: 'monthly', amount: 1 }, 'pricing.model', 'must be one of'],
    ['no amount', promptBody, { model: 'per-run' }, 'pricing.amount', 'is required'],
    ['an amount of 0', promptBody, { model: 'per-run', amount: 0 }, 'pricing.amount', 'greater than 0'],
    ['an amount for nothing', promptBody, { model: 'free', amount: 1 }, 'pricing.amount', 'must be 0'],
    ['a negative amount', promptBody, { model: 'per-run', amount: -1 }, 'pricing.amount', 'negative'],
    ['seven decimals', promptBody, { model: 'per-run', amount: 1.0000001 }, 'pricing.amount', '6 decimals'],
    [
      'another currency',
      promptBody,
      { model: 'per-run', amount: 1, currency: 'EUR' },
      'pricing.currency',
      'must be USDC',
    ],
    ['tokens of a tool', toolBody, { model: 'per-token', amount: 1 }, 'pricing.model', 'prompts only'],
    ['seconds of a prompt', promptBody, { model: 'per-second', amount: 1 }, 'pricing.model', 'agents and tools only'],
  ]
  test.each(prices)('pricing: %s', async (_, bodyOf, pricing, field, message) => {
    await expectFault({ ...bodyOf(), pricing }, field, message)
  })

  test('the configuration of another type', async () => {
    const body = promptBody({ toolConfig: { apiEndpoint: 'http://127.0.0.1:9/' } })
    await expectFault(body, 'toolConfig', 'for assets of type tool only')
  })

  test('names all wrong fields at once', async () => {
    const body = toolBody({
      slug: slugOf('many'),
      toolConfig: { apiEndpoint: 'http://10.0.0.1/', requestTransform: '((' },
    })
    const answer = await person.call('POST', '/v1/rda', { body: { ...body, pricing: { model: 'per-run' } } })
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body.details as object).sort()).toEqual([
      'pricing.amount',
      'toolConfig.apiEndpoint',
      'toolConfig.requestTransform',
    ])
  })

  test('a body that is no JSON', async () => {
    const answer = await person.call('POST', '/v1/rda', { raw: '{"slug": ' })
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body.details as object)).toEqual(['body'])
  })
})

describe('POST /rda → 400 for a slug that is taken', () => {
  test('by any owner and in every status; the other environment has its own slugs', async () => {
    const service = await testService(ALLOWED)
    const person = await service.person()
    const other = await service.person()
    const body = promptBody()
    expect((await person.call('POST', '/v1/rda', { body })).status).toBe(201)
    for (const who of [person, other]) {
      const answer = await who.call('POST', '/v1/rda', { body })
      expect(answer.status).toBe(400)
      expect(answer.body.details).toEqual({ slug: 'is taken by another asset: choose another slug' })
    }
    await person.call('POST', `/v1/rda/${String(body['slug'])}/archive`)
    expect((await other.call('POST', '/v1/rda', { body })).status).toBe(400)
    await service.close()
  })
})

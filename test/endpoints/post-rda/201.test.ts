import { agentBody, ALLOWED, promptBody, toolBody } from '../../marketplace/bodies.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

describe('POST /rda → 201', () => {
  let service: TestService
  let person: TestPerson

  beforeAll(async () => {
    service = await testService(ALLOWED)
    person = await service.person()
  })
  afterAll(async () => {
    await service.close()
  })

  test.each([
    ['prompt', promptBody],
    ['agent', agentBody],
    ['tool', toolBody],
  ] as const)('a %s is made as a draft and answered with id, slug, type and status', async (type, bodyOf) => {
    const body = bodyOf()
    const answer = await person.call('POST', '/v1/rda', { body })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      created: true,
      rda: { id: expect.stringMatching(/^rda_/), slug: body['slug'], type, status: 'draft' },
    })
    const { rda } = (await person.call('GET', `/v1/rda/${String(body['slug'])}`)).body
    expect(rda).toMatchObject({ id: answer.body.rda.id, status: 'draft', version: '1.0.0', publishedAt: null })
  })

  test('omitted fields get their defaults', async () => {
    const { body } = await person.call('POST', '/v1/rda', { body: promptBody() })
    const { rda } = (await person.call('GET', `/v1/rda/${body.rda.id as string}`)).body
    expect(rda).toMatchObject({
      longDescription: null,
      tags: [],
      coverImage: null,
      codeSnippet: null,
      codeLanguage: null,
      schema: { outputs: { type: 'markdown' } },
      pricing: { model: 'per-run', amount: 0.02, currency: 'USDC' },
      promptConfig: { systemPrompt: null, defaultModelId: 'sandbox/echo', sourcePrice: null, examples: [] },
      agentConfig: null,
      toolConfig: null,
    })
  })

  test.each([
    ['the base price of an agent', () => agentBody(), { model: 'per-run', amount: 0.25 }],
    ['the base price of a tool', () => toolBody(), { model: 'per-run', amount: 0.01 }],
    [
      'no price at all',
      () => agentBody({ agentConfig: { webhookUrl: 'http://127.0.0.1:9/' } }),
      { model: 'free', amount: 0 },
    ],
    [
      'per run',
      () => promptBody({ pricing: { model: 'per-run', amount: 1.5, currency: 'USDC' } }),
      { model: 'per-run', amount: 1.5 },
    ],
    [
      'per token',
      () => promptBody({ pricing: { model: 'per-token', amount: 0.000001 } }),
      { model: 'per-token', amount: 0.000001 },
    ],
    [
      'per second',
      () => toolBody({ pricing: { model: 'per-second', amount: 0.01 } }),
      { model: 'per-second', amount: 0.01 },
    ],
    ['free', () => toolBody({ pricing: { model: 'free' } }), { model: 'free', amount: 0 }],
  ])('the price: %s', async (_, bodyOf, pricing) => {
    const { status, body } = await person.call('POST', '/v1/rda', { body: bodyOf() })
    expect(status).toBe(201)
    const { rda } = (await person.call('GET', `/v1/rda/${body.rda.id as string}`)).body
    expect(rda.pricing).toMatchObject({ ...pricing, currency: 'USDC' })
  })

  test('an api_key may name its header alone: the key may be among the headers', async () => {
    const config = { apiEndpoint: 'http://127.0.0.1:9/', authType: 'api_key', authConfig: { headerName: 'X-API-Key' } }
    const { status } = await person.call('POST', '/v1/rda', { body: toolBody({ toolConfig: config }) })
    expect(status).toBe(201)
  })

  test('sent twice with one key it is made once', async () => {
    const body = promptBody()
    const headers = { 'idempotency-key': 'make-it-once' }
    const first = await person.call('POST', '/v1/rda', { body, headers })
    const second = await person.call('POST', '/v1/rda', { body, headers })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
  })

  test('of ten concurrent calls with one slug, one creates it', async () => {
    const body = promptBody()
    const answers = await Promise.all(Array.from({ length: 10 }, () => person.call('POST', '/v1/rda', { body })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(400)])
    for (const answer of answers) {
      if (answer.status === 400) expect(answer.body.details).toEqual({ slug: expect.stringContaining('taken') })
    }
  })
})

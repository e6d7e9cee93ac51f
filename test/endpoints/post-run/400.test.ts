import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'
import type { TestPerson } from '../../harness/service.ts'

describe('POST /run → 400', () => {
  let world: RunWorld
  let caller: TestPerson
  let slug: string

  beforeAll(async () => {
    world = await runWorld()
    caller = await world.caller(1)
    slug = await world.prompt({
      inputSchema: [
        { name: 'say', label: 'Say', type: 'text', required: true },
        { name: 'tone', label: 'Tone', type: 'select', required: false, options: ['plain', 'formal'] },
        { name: 'count', label: 'Count', type: 'number', required: false, min: 1, max: 9 },
      ],
    })
  })
  afterAll(async () => {
    await world.close()
  })

  test.each([
    ['rdaSlug', { rdaSlug: undefined }, 'is required'],
    ['rdaSlug', { rdaSlug: 7 }, 'must be a string'],
    ['rdaSlug', { rdaSlug: '' }, 'must not be empty'],
    ['inputs', { inputs: undefined }, 'is required'],
    ['inputs', { inputs: [] }, 'must be a record'],
    ['modelId', { modelId: 3 }, 'must be a string'],
    ['modelId', { modelId: 'gpt-9' }, 'must be one of sandbox/echo'],
    ['maxCost', { maxCost: -1 }, 'must not be negative'],
    ['maxCost', { maxCost: 0.0000001 }, 'must have at most 6 decimals'],
    ['maxCost', { maxCost: '1' }, 'must be a number'],
    [
      'webhookUrl',
      { webhookUrl: 'ftp://example.com' },
      'The address cannot be called: only http and https are allowed.',
    ],
    ['webhookUrl', { webhookUrl: 'http://169.254.169.254/' }, expect.stringContaining('cannot be called')],
    ['async', { async: 'yes' }, 'must be a boolean'],
    ['unknown', { unknown: 1 }, 'is not known'],
    ['say', { inputs: {} }, 'is required'],
    ['say', { inputs: { say: 5 } }, 'must be a text'],
    ['tone', { inputs: { say: 'a', tone: 'loud' } }, 'must be one of plain, formal'],
    ['count', { inputs: { say: 'a', count: 10 } }, 'must be at most 9'],
    ['other', { inputs: { say: 'a', other: 1 } }, 'is not known'],
  ])('%s: %j', async (field, change, message) => {
    const answer = await caller.call('POST', '/v1/run', { body: { rdaSlug: slug, inputs: { say: 'a' }, ...change } })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      error: expect.any(String),
      code: 'invalid_input',
      requestId: expect.stringMatching(/^req_/),
      details: { [field]: message },
      runId: expect.stringMatching(/^run_/),
    })
  })

  test('names every wrong input in one answer', async () => {
    const { body } = await world.run(caller, slug, { inputs: { tone: 'loud', count: 0, other: 1 }, modelId: 'gpt-9' })
    expect(Object.keys(body.details as object).sort()).toEqual(['count', 'modelId', 'other', 'say', 'tone'])
  })

  test('a model for an agent', async () => {
    const agent = await world.agent({})
    const { status, body } = await world.run(caller, agent, { inputs: { topic: 'x' }, modelId: 'sandbox/echo' })
    expect([status, body.details]).toEqual([400, { modelId: 'is for prompts only' }])
  })

  test('no body, or one that is no JSON', async () => {
    for (const options of [{}, { raw: '{', headers: { 'content-type': 'application/json' } }]) {
      const answer = await caller.call('POST', '/v1/run', options)
      expect([answer.status, answer.body.runId]).toEqual([400, expect.stringMatching(/^run_/)])
    }
  })

  test('none of these left a hold or a run', async () => {
    expect(await world.wallet(caller)).toMatchObject({ balance: 1, pendingLocks: {}, totalSpent: 0 })
    expect((await caller.call('GET', '/v1/runs')).body.total).toBe(0)
  })
})

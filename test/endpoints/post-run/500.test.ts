import { runWorld, type RunWorld } from '../../marketplace/runs/world.ts'

describe('POST /run → 500', () => {
  let world: RunWorld

  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(async () => {
    await world.close()
  })

  test.each([
    [
      'a tool that answers 500',
      () => world.tool({ apiEndpoint: world.server.on('/t500', () => ({ status: 500 })) }),
      'tool_refused',
    ],
    [
      'a tool that redirects',
      () => world.tool({ apiEndpoint: world.server.on('/t302', () => ({ status: 302, headers: { location: '/' } })) }),
      'tool_redirect_refused',
    ],
    [
      'a tool that hangs up',
      () => world.tool({ apiEndpoint: world.server.on('/gone', () => 'hang up') }),
      'tool_connection_failed',
    ],
    [
      'an agent that fails',
      () => world.agent({ webhookUrl: world.server.on('/afail', () => ({ body: { status: 'failed' } })) }),
      'agent_failed',
    ],
    [
      'an agent that says nothing known',
      () => world.agent({ webhookUrl: world.server.on('/aodd', () => ({ body: { status: 'well' } })) }),
      'agent_answer_invalid',
    ],
    [
      'an agent to be polled nowhere',
      () => world.agent({ webhookUrl: world.server.on('/anop', () => ({ body: { status: 'pending' } })) }),
      'agent_answer_invalid',
    ],
    [
      'an agent that is not there',
      () => world.agent({ webhookUrl: 'http://127.0.0.1:9/', maxRetries: 0 }),
      'agent_unreachable',
    ],
    [
      'an agent that takes too long',
      () =>
        world.agent({
          webhookUrl: world.server.on('/slow', () => new Promise<never>(() => undefined)),
          timeoutSeconds: 1,
        }),
      'run_timeout',
    ],
  ])('%s: not charged, and found under its id', async (_, publish, code) => {
    const caller = await world.caller(1)
    const slug = await publish()
    const answer = await world.run(caller, slug, {
      inputs: slug.startsWith('weather') ? { city: 'Bern' } : { topic: 'x' },
    })
    expect(answer.status).toBe(500)
    expect(answer.body).toEqual({
      error: expect.any(String),
      code,
      requestId: expect.any(String),
      runId: expect.stringMatching(/^run_/),
    })
    expect(answer.body.error).not.toContain('127.0.0.1')
    expect(await world.wallet(caller)).toMatchObject({
      balance: 1,
      availableBalance: 1,
      pendingLocks: {},
      totalSpent: 0,
    })
    const { run } = (await caller.call('GET', `/v1/runs/${answer.body.runId as string}`)).body
    expect(run).toMatchObject({ status: 'failed', cost: 0, output: null, code, error: answer.body.error })
  })
})

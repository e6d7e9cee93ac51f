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

  test('the buyer reads why: the reason of the agent or the tool, short and without their secrets', async () => {
    const caller = await world.caller(5)
    const message = `No such city.\u0007\n<b>Try another</b> (key secret-key-1, Bearer abcdefgh12345678)${' x'.repeat(900)}`
    const tool = await world.tool({
      ...{ apiEndpoint: world.server.on('/why', () => ({ status: 422, body: message })), authType: 'api_key' },
      authConfig: { headerName: 'x-key', apiKey: 'secret-key-1' },
    })
    const ofTool = (await world.run(caller, tool, { inputs: { city: 'Bern' } })).body
    expect(ofTool.error).toMatch(/^The tool answered with the status 422: .*No such city\. .*Try another.*\[hidden\]/)
    expect(ofTool.error).not.toMatch(/secret-key-1|abcdefgh1234|\p{Cc}|<b>/u)
    expect(ofTool.error.length).toBeLessThan(560)
    const agent = await world.agent({
      webhookUrl: world.server.on('/why-agent', () => ({
        body: { status: 'failed', error: 'The topic is too wide.' },
      })),
    })
    const ofAgent = (await world.run(caller, agent, { inputs: { topic: 'x' } })).body
    expect(ofAgent.error).toBe('The agent reported that it failed: The topic is too wide.')
    const { run } = (await caller.call('GET', `/v1/runs/${String(ofAgent.runId)}`)).body
    expect(run.error).toBe(ofAgent.error)
  })

  test('the buyer reads no address of the server that failed; its creator reads all of it', async () => {
    const caller = await world.caller(5)
    await world.creator.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
    const page =
      'Cannot POST /why-hidden/x9 at http://10.1.2.3:8080/why-hidden/x9. getaddrinfo ENOTFOUND db.internal. /srv/app/hook.js:3'
    const apiEndpoint = world.server.on('/why-hidden/x9', () => ({ status: 404, body: page }))
    const tool = await world.tool({ apiEndpoint })
    const agent = await world.agent({
      webhookUrl: world.server.on('/agent-hidden', () => ({ body: { status: 'failed', error: `${page} 127.0.0.1` } })),
    })
    for (const [slug, inputs] of [
      [tool, { city: 'Bern' }],
      [agent, { topic: 'x' }],
    ] as const) {
      const { body } = await world.run(caller, slug, { inputs })
      const { run } = (await caller.call('GET', `/v1/runs/${String(body.runId)}`)).body
      for (const error of [body.error, run.error]) {
        expect(error).toMatch(/Cannot POST \[hidden\]/)
        expect(error).not.toMatch(/why-hidden|x9|10\.1|8080|internal|srv|hook|127\.0/)
      }
      const { runs } = (await world.creator.call('GET', `/v1/rda/${slug}/runs`)).body
      expect(runs[0].error).toContain('Cannot POST /why-hidden/x9 at http://10.1.2.3:8080/why-hidden/x9.')
      const own = await world.run(world.creator, slug, { inputs })
      expect(own.body.error).toContain('ENOTFOUND db.internal')
    }
  })

  test("the buyer does not read the query of the creator's own address, also behind inputs", async () => {
    const caller = await world.caller(5)
    const endpoint = world.server.on('/why-query', () => ({
      status: 404,
      body: 'No match for city=Bern&tenant=blue-1.',
    }))
    const slug = await world.tool({ apiEndpoint: `${endpoint}?tenant=blue-1`, apiMethod: 'GET' })
    const { body } = await world.run(caller, slug, { inputs: { city: 'Bern' } })
    expect(body.error).toBe('The tool answered with the status 404: No match for city=Bern&[hidden]')
  })

  test("a tool fails after its creator's time limit, also before the first byte", async () => {
    const caller = await world.caller(5)
    const apiEndpoint = world.server.on('/slow-tool', () => new Promise<never>(() => undefined))
    const slug = await world.tool({ apiEndpoint, timeoutSeconds: 1 })
    const { body } = await world.run(caller, slug, { inputs: { city: 'Bern' } })
    expect([body.code, body.error]).toEqual(['tool_response_timeout', 'The tool did not answer in time.'])
  })
})

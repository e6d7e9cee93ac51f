import type { TestPerson } from '../harness/service.ts'
import { runWorld, type RunWorld } from '../marketplace/runs/world.ts'

/** What an agent's key may reach, and what it is shown there: its own, and nothing else of its owner's. */
describe('an agent’s key', () => {
  let world: RunWorld
  let owner: TestPerson
  let slug: string
  let one: { id: string; key: string }
  let other: { id: string; key: string }

  beforeAll(async () => {
    world = await runWorld()
    owner = await world.caller(100)
    slug = await world.prompt()
    one = await agentKey()
    other = await agentKey()
  })
  afterAll(async () => {
    await world.close()
  })

  async function agentKey(): Promise<{ id: string; key: string }> {
    const { agent } = (await owner.call('POST', '/v1/agents', { body: { name: 'A' } })).body
    const { secret } = (await owner.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })).body
    return { id: agent.id, key: secret }
  }
  const as = (key: string, method: string, path: string, body?: unknown) =>
    world.service.call(method, path, { key, ...(body === undefined ? {} : { body }) })
  const run = (key: string, more: object = {}) =>
    as(key, 'POST', '/v1/run', { rdaSlug: slug, inputs: { say: 'hi' }, ...more })

  /** Every route of the API that does not refuse it. A new one belongs into this list only if it shows an agent its own. */
  const REACHABLE = [
    'get /v1/approvals/{id}',
    'get /v1/credits',
    'get /v1/me',
    'get /v1/models',
    'get /v1/pay',
    'get /v1/pay/{id}',
    'get /v1/rda/{identifier}',
    'get /v1/rda/{identifier}/reviews',
    'get /v1/rdas',
    'get /v1/runs',
    'get /v1/runs/{id}',
    'get /v1/runs/{id}/events',
    'get /v1/tool-calls',
    'get /v1/tool-calls/{callId}',
    'get /v1/wallet/balance',
    'post /v1/pay',
    'post /v1/run',
    'post /v1/runs/{id}/cancel',
  ]
  /**
   * Routes that need no key: they take a link with a ticket, a signed message, or a payment that brings its own money.
   */
  const PUBLIC = [
    'get /v1/approvals/{id}/page',
    'post /v1/approvals/{id}/page/approve',
    'post /v1/approvals/{id}/page/refuse',
    'post /v1/hooks/identity',
    'post /v1/rda/{slug}/run',
  ]

  test('reaches these routes of the API, and is refused at every other', async () => {
    const { paths } = (await world.service.call('GET', '/openapi.json')).body as {
      paths: Record<string, Record<string, unknown>>
    }
    const reached: string[] = []
    let refused = 0
    for (const [path, methods] of Object.entries(paths)) {
      if (!path.startsWith('/v1/')) continue
      for (const method of Object.keys(methods)) {
        const { status, body } = await as(
          one.key,
          method.toUpperCase(),
          path.replaceAll(/\{\w+\}/g, 'nothing'),
          undefined,
        )
        if (status === 403 && body?.code === 'agent_key_forbidden') refused++
        else reached.push(`${method} ${path}`)
      }
    }
    expect(reached.sort()).toEqual([...REACHABLE, ...PUBLIC].sort())
    expect(refused).toBeGreaterThan(25)
  })

  test('sees, lists, follows and cancels its own runs; another agent’s and its owner’s are not there', async () => {
    const own = (await run(one.key)).body.runId as string
    const foreign = [(await run(other.key)).body.runId as string, (await run(owner.key)).body.runId as string]
    const listed = (await as(one.key, 'GET', '/v1/runs')).body
    expect([
      listed.total,
      (listed.runs as { id: string; agentId: string }[]).map(({ id, agentId }) => [id, agentId]),
    ]).toEqual([1, [[own, one.id]]])
    expect((await as(one.key, 'GET', `/v1/runs?rda=${slug}&limit=1&offset=1`)).body).toMatchObject({
      runs: [],
      total: 1,
    })
    expect((await as(one.key, 'GET', `/v1/runs/${own}`)).body.run).toMatchObject({ id: own, agentId: one.id })
    expect((await as(one.key, 'GET', `/v1/runs/${own}/events`)).status).toBe(200)
    expect((await as(one.key, 'POST', `/v1/runs/${own}/cancel`)).status).toBe(409)
    for (const id of foreign) {
      for (const [method, path] of [
        ['GET', `/v1/runs/${id}`],
        ['GET', `/v1/runs/${id}/events`],
        ['POST', `/v1/runs/${id}/cancel`],
      ] as const) {
        const { status, body } = await as(one.key, method, path)
        expect([status, body.code]).toEqual([404, 'run_not_found'])
      }
    }
    // The owner sees all runs, and which agent each belongs to.
    const all = (await owner.call('GET', '/v1/runs')).body.runs as { id: string; agentId: string | null }[]
    expect(all.map(({ agentId }) => agentId).toSorted()).toEqual([one.id, other.id, null].toSorted())
  })

  test("does not share another key's answer under the same Idempotency-Key", async () => {
    const keyed = (key: string) =>
      world.service.call('POST', '/v1/run', {
        key,
        headers: { 'idempotency-key': 'the-same' },
        body: { rdaSlug: slug, inputs: { say: 'secret' } },
      })
    const [first, second, own] = [await keyed(one.key), await keyed(other.key), await keyed(owner.key)]
    expect(new Set([first, second, own].map(({ body }) => body.runId as string)).size).toBe(3)
    expect((await keyed(one.key)).body.runId).toBe(first.body.runId)
  })

  test("sees the sum of all holds, but the ids of its own agent's only", async () => {
    const reserve = async (id: string, agentId: string | null) => {
      await world.service.budgets.reserve({
        id,
        owner: { userId: owner.caller.user.id, environment: 'sandbox' },
        amount: 10_000n as never,
        useCredits: false,
        deadline: new Date(world.service.clock.now().getTime() + 60_000),
        reference: null,
        spender: agentId === null ? null : { agentId, kind: 'run', target: 'x', requestHash: id },
      })
    }
    await reserve('lock-one', one.id)
    await reserve('lock-other', other.id)
    await reserve('lock-owner', null)
    const walletOf = async (key: string) =>
      (await as(key, 'GET', '/v1/wallet/balance')).body.wallet as { pendingLocks: object }
    expect(await walletOf(one.key)).toMatchObject({ totalLocked: 0.03, pendingLocks: { 'lock-one': 0.01 } })
    expect(Object.keys((await walletOf(one.key)).pendingLocks)).toEqual(['lock-one'])
    expect(Object.keys((await as(other.key, 'GET', '/v1/me')).body.wallet.pendingLocks as object)).toEqual([
      'lock-other',
    ])
    expect(Object.keys((await walletOf(owner.key)).pendingLocks)).toHaveLength(3)
  })

  test('reads no more of its owner’s assets than the public, but runs its drafts', async () => {
    const body = {
      slug: `draft-${String(Date.now())}`,
      type: 'prompt',
      name: 'Draft',
      description: 'Not yet',
      inputSchema: [{ name: 'say', label: 'Say', type: 'text', required: true }],
      promptConfig: { promptTemplate: 'Secret words: {{say}}', allowedModels: ['sandbox/echo'] },
    }
    const created = await owner.call('POST', '/v1/rda', { body })
    expect(created.status).toBe(201)
    expect((await as(one.key, 'GET', `/v1/rda/${body.slug}`)).status).toBe(404)
    expect((await as(one.key, 'GET', '/v1/rdas?status=draft')).body.code).toBe('agent_key_forbidden')
    expect((await run(one.key, { rdaSlug: body.slug })).status).toBe(200)
    await owner.call('POST', `/v1/rda/${body.slug}/publish`)
    const { rda } = (await as(one.key, 'GET', `/v1/rda/${body.slug}`)).body
    expect(rda.status).toBe('published')
    expect(JSON.stringify(rda)).not.toContain('Secret words')
    expect(JSON.stringify((await owner.call('GET', `/v1/rda/${body.slug}`)).body)).toContain('Secret words')
  })
})

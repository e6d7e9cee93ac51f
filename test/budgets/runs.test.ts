import { echoed } from '../../service/models/models.ts'
import { runWorld, type RunWorld } from '../marketplace/runs/world.ts'
import type { TestPerson } from '../harness/service.ts'

/** POST /run with an agent's key, over HTTP, with the worker at work. */
describe('runs of an agent', () => {
  let world: RunWorld
  let caller: TestPerson
  let slug: string

  beforeAll(async () => {
    world = await runWorld()
    caller = await world.caller(100)
    slug = await world.prompt()
  })
  afterAll(async () => {
    await world.close()
  })

  async function agentKey(rules: object): Promise<{ id: string; key: string }> {
    const { agent } = (await caller.call('POST', '/v1/agents', { body: { name: 'A', ...rules } })).body
    const { secret } = (await caller.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })).body
    return { id: agent.id, key: secret }
  }
  const run = (key: string, body: object = {}) =>
    world.service.call('POST', '/v1/run', { key, body: { rdaSlug: slug, inputs: { say: 'hi' }, ...body } })

  test('are allowed within its limits; beyond, 403 names the limit and nothing is charged', async () => {
    const { id, key } = await agentKey({ limits: { perDay: 0.05 } })
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => run(key)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 403, 403, 403])
    const refused = answers.find(({ status }) => status === 403)
    expect(refused?.body).toEqual({
      error: "This would exceed the agent's limit for this day.",
      code: 'spending_limit',
      requestId: expect.any(String),
      runId: expect.stringMatching(/^run_/),
      limit: 'perDay',
      allowed: 0.05,
      spent: 0.04,
      requested: 0.02,
      pattern: null,
      resetsAt: expect.stringMatching(/T00:00:00\.000Z$/),
    })
    const { windows } = (await caller.call('GET', `/v1/agents/${id}/policy`)).body
    expect(windows[1]).toMatchObject({ limit: 'perDay', spent: 0.04, remaining: 0.01 })
  })

  test("match patterns by an asset's slug and by its id", async () => {
    const { rda } = (await caller.call('GET', `/v1/rda/${slug}`)).body
    const bySlug = await agentKey({ rdas: { deny: [`${slug.slice(0, 3)}*`] } })
    const byId = await agentKey({ rdas: { deny: [rda.id] } })
    const allowed = await agentKey({ rdas: { allow: [rda.id] } })
    expect((await run(bySlug.key)).body).toMatchObject({ code: 'spending_limit', limit: 'rdas.deny' })
    expect((await run(byId.key)).body).toMatchObject({ limit: 'rdas.deny', pattern: rda.id })
    expect((await run(allowed.key)).status).toBe(200)
  })

  test('a run above the approval amount gets 202, and the same request proceeds once approved', async () => {
    const { key } = await agentKey({ approvalAbove: 0.01 })
    const options = {
      key,
      body: { rdaSlug: slug, inputs: { say: 'dear' } },
      headers: { 'idempotency-key': `dear-${key}` },
    }
    const held = await world.service.call('POST', '/v1/run', options)
    expect(held.status).toBe(202)
    expect(held.body).toMatchObject({
      code: 'approval_required',
      approvalId: expect.stringMatching(/^apr_/),
      runId: expect.stringMatching(/^run_/),
    })
    expect(held.body.statusUrl).toContain(`/v1/approvals/${String(held.body.approvalId)}`)
    const path = `/v1/approvals/${String(held.body.approvalId)}`
    // Asked for again while it waits, also without the key: the same approval.
    expect((await run(key, { inputs: { say: 'dear' } })).body.approvalId).toBe(held.body.approvalId)
    // Another request needs another approval.
    expect((await run(key, { inputs: { say: 'other' } })).body.approvalId).not.toBe(held.body.approvalId)
    expect((await world.service.call('GET', path, { key })).body.approval.status).toBe('pending')
    expect((await world.service.call('POST', `${path}/approve`, { key, body: {} })).status).toBe(403)
    expect((await caller.call('POST', `${path}/approve`)).body.approval.status).toBe('approved')
    const done = await world.service.call('POST', '/v1/run', options)
    expect(done.body).toMatchObject({ success: true, runId: held.body.runId, output: echoed('dear') })
    const replayed = await world.service.call('POST', '/v1/run', options)
    expect(replayed.body.runId).toBe(held.body.runId)
    expect((await caller.call('GET', path)).body.approval).toMatchObject({ status: 'used', reference: held.body.runId })
    // The approval is used up: repeating the request needs a new one.
    const again = await run(key, { inputs: { say: 'dear' } })
    expect([again.status, again.body.approvalId === held.body.approvalId]).toEqual([202, false])
  })

  test('begin by themselves once approved, when queued, exactly once', async () => {
    await world.service.start()
    const { key } = await agentKey({ approvalAbove: 0.01 })
    const held = await run(key, { async: true, inputs: { say: 'later' } })
    expect(held.body).toMatchObject({ code: 'approval_required' })
    await caller.call('POST', `/v1/approvals/${String(held.body.approvalId)}/approve`)
    await caller.call('POST', `/v1/approvals/${String(held.body.approvalId)}/approve`)
    const path = `/v1/runs/${String(held.body.runId)}`
    let state = ''
    for (const end = Date.now() + 60_000; state !== 'succeeded' && Date.now() < end;) {
      state = (await world.service.call('GET', path, { key })).body.run?.status ?? ''
    }
    expect(state).toBe('succeeded')
    const { runs } = (await caller.call('GET', '/v1/runs?limit=100')).body
    expect((runs as { id: string }[]).filter(({ id }) => id === held.body.runId)).toHaveLength(1)
  })

  test('are answered on an open connection once the approval is decided', async () => {
    const { id, key } = await agentKey({ approvalAbove: 0.01 })
    const run = (say: string, wait: number) =>
      world.service.call('POST', '/v1/run', {
        key,
        body: { rdaSlug: slug, inputs: { say } },
        headers: { prefer: `respond-async, wait=${String(wait)}` },
      })
    const word = async (decision: 'approve' | 'refuse') => {
      const path = `/v1/approvals?status=pending&agentId=${id}`
      const list = () => caller.call('GET', path)
      const { approvals } = (await world.until(list, ({ body }) => body.approvals.length === 1)).body
      await caller.call('POST', `/v1/approvals/${String(approvals[0].id)}/${decision}`)
    }
    const [approved] = await Promise.all([run('yes', 30), word('approve')])
    expect([approved.status, approved.body.output]).toEqual([200, echoed('yes')])
    const [refused] = await Promise.all([run('no', 30), word('refuse')])
    expect([refused.status, refused.body.code]).toEqual([403, 'approval_refused'])
    const [silent] = [await run('nobody', 1)]
    expect([silent.status, silent.body.code]).toEqual([202, 'approval_required'])
  })

  test("stay refused for the same request until the refusal's time is over", async () => {
    const { key } = await agentKey({ approvalAbove: 0 })
    const held = await run(key)
    const path = `/v1/approvals/${String(held.body.approvalId)}`
    expect((await caller.call('POST', `${path}/refuse`)).body.approval.status).toBe('refused')
    const otherwise = await caller.call('POST', `${path}/approve`)
    expect([otherwise.status, otherwise.body.code]).toEqual([409, 'approval_over'])
    const again = await run(key)
    expect([again.status, again.body.code]).toEqual([403, 'approval_refused'])
    world.service.clock.forward(16 * 60_000)
    const anew = await run(key)
    expect([anew.status, anew.body.approvalId === held.body.approvalId]).toEqual([202, false])
  })
})

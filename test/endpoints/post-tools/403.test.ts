import { toolWorld, type ToolWorld } from '../../tools/calls/world.ts'
import type { TestPerson } from '../../harness/service.ts'

describe('POST {tools_url}/{slug} → 202, 401, 403', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld()
    world.upstream.respondWith('/notes', { id: 1 })
    world.upstream.respondWith('/text', 'text')
  })
  afterAll(async () => {
    await world.close()
  })

  async function agentOf(caller: TestPerson, policy: Record<string, unknown>): Promise<string> {
    const { agent } = (await caller.call('POST', '/v1/agents', { body: { name: 'Agent', ...policy } })).body
    return (await caller.call('POST', '/v1/keys', { body: { name: 'agent', agentId: agent.id } })).body.secret as string
  }

  test('401 without a key, with an unknown one and with a revoked one', async () => {
    const caller = await world.caller()
    const created = (await caller.call('POST', '/v1/keys', { body: { name: 'short-lived' } })).body
    await caller.call('DELETE', `/v1/keys/${String(created.key.id)}`)
    for (const key of [undefined, 'csk_test_made-up-made-up-made-up', String(created.secret)]) {
      const answer = await world.service.call('POST', '/tools/acme-create-note', {
        body: { title: 'x' },
        ...(key === undefined ? {} : { key }),
      })
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthenticated'])
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('an agent over its limit calls no tool, and reads the limit and when it resets', async () => {
    const caller = await world.caller()
    const requestsBefore = world.upstream.requests.length
    const key = await agentOf(caller, { limits: { perDay: 0.02 } })
    const call = () => world.call(key, 'acme-create-note', { title: 'x' })
    const answers = await Promise.all(Array.from({ length: 10 }, call))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(world.upstream.requests.length - requestsBefore).toBe(2)
    const refused = await call()
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({
      code: 'spending_limit',
      limit: 'perDay',
      allowed: 0.02,
      spent: 0.02,
      requested: 0.01,
      resetsAt: expect.any(String),
    })
  })

  test('a failed call returns its share of the limit', async () => {
    world.upstream.respondWith('/anything', {}, 500)
    const key = await agentOf(await world.caller(), { limits: { perDay: 0.01 } })
    for (let call = 0; call < 3; call++) expect((await world.call(key, 'acme-get-anything')).status).toBe(502)
    expect((await world.call(key, 'acme-create-note', { title: 'x' })).status).toBe(200)
  })

  test('tools that are not allowed, or denied, by patterns of their slugs', async () => {
    const key = await agentOf(await world.caller(), { tools: { allow: ['acme-get-*'], deny: ['acme-get-text'] } })
    expect((await world.call(key, 'acme-create-note', { title: 'x' })).body).toMatchObject({
      code: 'spending_limit',
      limit: 'tools.allow',
    })
    expect((await world.call(key, 'acme-get-text')).body).toMatchObject({
      limit: 'tools.deny',
      pattern: 'acme-get-text',
    })
  })

  test('202 above the approval amount; after the approval the same call goes through once', async () => {
    const caller = await world.caller()
    const key = await agentOf(caller, { approvalAbove: 0.005 })
    const held = await world.call(key, 'acme-create-note', { title: 'Approve me' })
    expect(held.status).toBe(202)
    expect(held.body).toMatchObject({ code: 'approval_required', approvalId: expect.stringMatching(/^apr_/) })
    await caller.call('POST', `/v1/approvals/${String(held.body.approvalId)}/approve`)
    expect((await world.call(key, 'acme-create-note', { title: 'Another' })).status).toBe(202)
    expect((await world.call(key, 'acme-create-note', { title: 'Approve me' })).status).toBe(200)
    expect((await world.call(key, 'acme-create-note', { title: 'Approve me' })).status).toBe(202)
  })
})

import type { Failpoints } from '../../service/kit/failpoints.ts'
import { usdc } from '../../service/kit/money.ts'
import type { TestPerson } from '../harness/service.ts'
import { hasRedis, startRedis, type RedisServer } from '../queue/redis.ts'
import { dyingAt, SECRET, startReplica, type Replica } from './calls/replica.ts'
import { toolWorld, type ToolWorld } from './calls/world.ts'
import { post } from './mcp-client.ts'

if (!hasRedis()) process.stderr.write('redis-server is not installed: canceling in another process is not tested\n')

const CAPABILITIES = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
const SLOW = { name: 'acme-get-slow', arguments: {} }

/** Two processes, one database, and one Redis where there is one. */
describe('MCP tasks', () => {
  let redis: RedisServer | null
  let world: ToolWorld
  let environment: Record<string, string>
  const replicas: Replica[] = []
  beforeAll(async () => {
    redis = hasRedis() ? await startRedis() : null
    environment = {
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
      AUTH_SECRET: SECRET,
      MCP_TASK_AFTER_MS: '20',
      TOP_UP_URL: 'https://pay.example/top-up',
    }
    world = await toolWorld(environment)
  })
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.close()))
  })
  afterAll(async () => {
    await world.close()
    await redis?.close()
  })

  async function replica(failpoints?: Failpoints, more: Record<string, string> = {}): Promise<Replica> {
    const started = await startReplica(world.service, { ...environment, ...more }, failpoints)
    replicas.push(started)
    return started
  }
  const at = ({ origin }: { origin: string }) => `${origin}/tools/mcp`
  const begin = (where: { origin: string }, { key }: TestPerson) =>
    post(at(where), key, { method: 'tools/call', params: SLOW, capabilities: CAPABILITIES })
  const taskCall = (where: { origin: string }, { key }: TestPerson, taskId: string, method = 'tasks/get') =>
    post(at(where), key, { method, params: { taskId }, capabilities: CAPABILITIES })

  /** The tool `rda-shout`, which costs 0.25. */
  async function offerCreatorsTool(creator: TestPerson): Promise<void> {
    const rda = {
      ...{ slug: 'shout', type: 'tool', name: 'Shout', description: 'Says it louder' },
      inputSchema: [{ name: 'say', label: 'Say', type: 'text', required: true }],
      toolConfig: { apiEndpoint: `${world.upstream.url}/creator`, apiMethod: 'POST' },
      pricing: { model: 'per-run', amount: 0.25 },
    }
    const created = (await creator.call('POST', '/v1/rda', { body: rda })).body
    await creator.call('POST', `/v1/rda/${String(created.rda.id)}/publish`)
    const operation = {
      ...{ operation: 'shout', name: 'Shout', description: 'Says it louder', category: null, deprecated: false },
      input: { type: 'object', properties: { say: { type: 'string' } }, required: ['say'] },
      output: null,
      upstream: { kind: 'rda' as const, rdaSlug: 'shout' },
    }
    const reading = { name: 'Marketplace', description: '', version: null, operations: [operation], skipped: [] }
    await world.service.catalogue.importAssets('sandbox', reading, new Map([['shout', usdc(250_000n)]]))
  }

  async function ended(where: { origin: string }, person: TestPerson, taskId: string) {
    for (;;) {
      const { result } = (await taskCall(where, person, taskId)).body
      if (result.status !== 'working') return result as Record<string, unknown>
    }
  }

  test('a slow call becomes a task, readable in another process and by its caller only', async () => {
    const open = world.upstream.holds('/slow', { done: true })
    const [person, other] = [await world.caller(), await world.caller()]
    const second = await replica()
    const { result: task } = (await begin(world.service, person)).body
    expect(task).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^op_/),
      status: 'working',
      ttlMs: 86_400_000,
      pollIntervalMs: 2_000,
    })
    const { taskId } = task as { taskId: string }
    expect(Math.abs(Date.parse(task.createdAt as string) - world.service.clock.now().getTime())).toBeLessThan(60_000)
    expect((await taskCall(second, person, taskId)).body.result).toMatchObject({
      resultType: 'complete',
      status: 'working',
    })
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      expect((await taskCall(second, other, taskId, method)).body.error).toMatchObject({ code: -32602 })
      const guest = await post(at(second), null, { method, params: { taskId }, capabilities: CAPABILITIES })
      expect(guest.body.error).toMatchObject({ code: -32602 })
      const undeclared = await post(at(second), person.key, { method, params: { taskId } })
      expect([undeclared.status, undeclared.body.error]).toEqual([
        400,
        expect.objectContaining({ code: -32021, data: { requiredCapabilities: CAPABILITIES } }),
      ])
    }
    expect((await taskCall(second, person, taskId, 'tasks/update')).body.error).toMatchObject({
      message: 'taskId: This task asks for no input.',
    })
    open()
    expect(await ended(second, person, taskId)).toMatchObject({
      status: 'completed',
      result: { structuredContent: { done: true }, _meta: { 'coinslot/billing': { cost: 0.01, credits: 4.99 } } },
    })
    expect(await world.left(person)).toMatchObject({ credits: 4.99, locks: 0 })
  })

  test('a tool’s failure is the result of its task, and costs nothing', async () => {
    const open = world.upstream.holds('/slow', {})
    const person = await world.caller()
    const second = await replica(undefined, { TOOL_TIMEOUT_MS: '200' })
    const { result: task } = (await begin(second, person)).body
    expect(await ended(world.service, person, task.taskId as string)).toMatchObject({
      status: 'completed',
      result: { isError: true, structuredContent: { error: { code: 'upstream_timeout' } } },
    })
    open()
    expect(await world.left(person)).toMatchObject({ credits: 5, locks: 0 })
  })

  test('free tools and clients without tasks are answered when the result is there', async () => {
    const person = await world.caller()
    const search = { name: 'search_tools', arguments: { query: 'note' } }
    const free = await post(at(world.service), person.key, {
      method: 'tools/call',
      params: search,
      capabilities: CAPABILITIES,
    })
    expect(free.body.result.resultType).toBe('complete')
    const open = world.upstream.holds('/slow', { done: true })
    const times = world.upstream.to('/slow').length
    const plain = post(at(world.service), person.key, { method: 'tools/call', params: SLOW })
    await world.upstream.waitForRequest('/slow', times + 1)
    open()
    expect((await plain).body.result).toMatchObject({ resultType: 'complete', structuredContent: { done: true } })
  })

  test('a task that was not sent yet is canceled for nothing, where Redis is there from any process', async () => {
    const person = await world.caller()
    const times = world.upstream.to('/slow').length
    const gate = pausingAt('call reserved')
    const second = await replica(gate.failpoints)
    const { result: task } = (await begin(second, person)).body
    const taskId = task.taskId as string
    const where = redis === null ? second : world.service
    // The second answer comes after the first message was delivered.
    for (let time = 0; time < 2; time++) {
      expect((await taskCall(where, person, taskId, 'tasks/cancel')).body.result).toMatchObject({
        resultType: 'complete',
      })
    }
    gate.open()
    expect(await ended(world.service, person, taskId)).toMatchObject({ status: 'cancelled' })
    expect(world.upstream.to('/slow')).toHaveLength(times)
    expect(await world.left(person)).toMatchObject({ credits: 5, locks: 0 })
  })

  test('closing the connection cancels a call that was not sent yet, but not a task', async () => {
    world.upstream.respondWith('/slow', { done: true })
    const person = await world.caller()
    const times = world.upstream.to('/slow').length
    const gate = pausingAt('call reserved')
    const second = await replica(gate.failpoints)
    const controller = new AbortController()
    const call = post(at(second), person.key, { method: 'tools/call', params: SLOW, signal: controller.signal })
    await gate.reached
    controller.abort()
    await expect(call).rejects.toThrow()
    const { result: task } = (await begin(second, person)).body
    gate.open()
    expect(await ended(world.service, person, task.taskId as string)).toMatchObject({ status: 'completed' })
    while ((await world.locks()) > 0) await new Promise(setImmediate)
    // Only the task was sent and charged.
    expect(world.upstream.to('/slow')).toHaveLength(times + 1)
    expect(await world.left(person)).toMatchObject({ credits: 4.99, locks: 0 })
  })

  test('a creator’s tool as a task has its run as the result, in any process', async () => {
    const [creator, person] = [await world.caller(), await world.caller(1)]
    await offerCreatorsTool(creator)
    const open = world.upstream.holds('/creator', 'made')
    const { result: task } = (
      await post(at(world.service), person.key, {
        method: 'tools/call',
        params: { name: 'rda-shout', arguments: { say: 'hello' } },
        capabilities: CAPABILITIES,
      })
    ).body
    expect(task).toMatchObject({ resultType: 'task', status: 'working' })
    open()
    const result = {
      structuredContent: { result: 'made' },
      _meta: { 'coinslot/billing': { cost: 0.25, balance: 0.75 } },
    }
    const taskId = task.taskId as string
    expect(await ended(world.service, person, taskId)).toMatchObject({ status: 'completed', result })
    // As if the process had died before it wrote the call's row.
    const { statements } = world.service.database
    await statements.run('DELETE FROM tool_call WHERE user_id = $1', [person.caller.user.id])
    expect((await taskCall(world.service, person, taskId)).body.result).toMatchObject({ status: 'completed', result })
    expect(await world.left(person)).toMatchObject({ balance: 0.75, locks: 0 })
  })

  test('an agent neither reads nor cancels a call of its owner', async () => {
    const gate = pausingAt('call reserved')
    const second = await replica(gate.failpoints)
    world.upstream.respondWith('/slow', { done: true })
    const person = await world.caller()
    const { agent } = (await person.call('POST', '/v1/agents', { body: { name: 'A' } })).body
    const body = { name: 'agent', agentId: agent.id as string }
    const key = (await person.call('POST', '/v1/keys', { body })).body.secret as string
    const { result: task } = (await begin(second, person)).body
    const taskId = task.taskId as string
    for (let time = 0; time < 2; time++) await taskCall(second, { ...person, key }, taskId, 'tasks/cancel')
    gate.open()
    expect(await ended(second, person, taskId)).toMatchObject({ status: 'completed' })
    expect((await taskCall(second, { ...person, key }, taskId)).body.error).toMatchObject({ code: -32602 })
  })

  test('the task of a process that died fails and costs nothing', async () => {
    const person = await world.caller()
    const dying = dyingAt('call reserved')
    const second = await startReplica(world.service, environment, dying.failpoints)
    const { result: task } = (await begin(second, person)).body
    await second.abandon()
    const taskId = task.taskId as string
    expect((await taskCall(world.service, person, taskId)).body.result.status).toBe('working')
    world.service.clock.forward(120_000)
    await world.service.ledger.sweep()
    expect((await taskCall(world.service, person, taskId)).body.result).toMatchObject({
      status: 'failed',
      error: { code: -32603 },
    })
    expect(await world.left(person)).toMatchObject({ credits: 5, locks: 0 })
  })

  test('a state is good once in all processes that share a Redis', async () => {
    if (redis === null) return
    world.upstream.respondWith('/slow', { done: true })
    const person = await world.caller()
    await world.spend(person, 5_000_000n)
    const second = await replica()
    const capabilities = { elicitation: { url: {} } }
    const call = (where: { origin: string }, more = {}) =>
      post(at(where), person.key, { method: 'tools/call', params: { ...SLOW, ...more }, capabilities })
    const { requestState } = (await call(world.service)).body.result as { requestState: string }
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })
    expect((await call(second, { requestState })).body.result).toMatchObject({ structuredContent: { done: true } })
    expect((await call(world.service, { requestState })).body.error).toMatchObject({ code: -32602 })
    expect(await world.left(person)).toMatchObject({ balance: 0.99, locks: 0 })
  })
})

/** Waits there until it is opened. */
function pausingAt(point: string): { failpoints: Failpoints; reached: Promise<void>; open: () => void } {
  let resolveReached: () => void = () => undefined
  let open: () => void = () => undefined
  const reached = new Promise<void>((resolve) => (resolveReached = resolve))
  const opened = new Promise<void>((resolve) => (open = resolve))
  return {
    reached,
    open: () => {
      open()
    },
    failpoints: {
      async reach(at) {
        if (at !== point) return
        resolveReached()
        await opened
      },
    },
  }
}

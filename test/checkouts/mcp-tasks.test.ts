import { payFor } from '../harness/mcp.ts'
import { freePort } from '../harness/ports.ts'
import { SECRET, startReplica, type Replica } from '../tools/calls/replica.ts'
import { post } from '../tools/mcp-client.ts'
import { openWorld, until, type World } from './world.ts'

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
const INPUT = { site: 'https://example.com/' }

type Json = Record<string, unknown>
interface Client {
  /** Null for a guest. */
  key?: string | null
  capabilities?: Json
  at?: string
  name?: string
  onPiece?(piece: string): void
}

/** A workflow that takes longer than a client waits: the call is a task, or its client hears how far it is. */
describe('slow calls of a checkout', () => {
  let world: World
  let second: Replica
  let chk: string

  beforeAll(async () => {
    const environment = { AUTH_SECRET: SECRET, MCP_TASK_AFTER_MS: '20' }
    const own = { ...environment, SETTLE_CONFIRMATIONS: '1', PORT: String(await freePort()) }
    world = await openWorld({ chain: true, environment: own })
    second = await startReplica(world.service, { ...environment, BASE_SEPOLIA_RPC_URLS: world.chain.url })
    ;({ id: chk } = await sell())
  })
  afterAll(async () => {
    await second.close()
    await world.close()
  })
  beforeEach(async () => {
    await world.forget()
    world.workflow.answers({ delivery: { status: 200, body: '{"score":97}' } })
  })

  const sell = (terms: object = {}) =>
    world.sell({
      fields: [{ name: 'site', label: 'Site', type: 'url', required: true }],
      ...{ responseMode: 'lastNode', price: 0.5, ...terms },
    })
  const address = (id: string, { origin }: { origin: string } = world.service) => `${origin}/p/${id}/mcp`
  const call = async (meta: Json, client: Client = {}) => {
    const { key = null, capabilities = TASKS, at = address(chk), name = 'seo-audit', ...more } = client
    const params = { name, arguments: INPUT, _meta: meta }
    return await post(at, key, { method: 'tools/call', params, capabilities, ...more })
  }
  const taskCall = async (taskId: string, { key = null, at = address(chk) }: Client = {}, method = 'tasks/get') =>
    (await post(at, key, { method, params: { taskId }, capabilities: TASKS })).body
  /** A payment for one call. */
  async function payment(): Promise<Json> {
    const payer = await world.chain.payer(1_000_000n)
    return { 'x402/payment': await payFor(world.chain, payer, (await call({})).body.result as Json) }
  }
  async function ended(taskId: string, client: Client = {}): Promise<Json> {
    return await until(async () => {
      const { result, error } = await taskCall(taskId, client)
      if (error !== undefined) throw new Error(error.message)
      return result.status === 'working' ? null : (result as Json)
    })
  }
  async function person() {
    await world.chain.fund(world.service.wallets.treasury()!, 100_000_000n)
    await world.chain.mine()
    const one = await world.service.person()
    await one.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    return one
  }
  const buyer = async (): Promise<string> => (await person()).key
  const answered = { structuredContent: { score: 97 } }

  test('a guest’s paid call becomes a task, readable by its id in any process', async () => {
    const open = world.workflow.holds()
    const { result: task } = (await call(await payment())).body
    expect(task).toMatchObject({ resultType: 'task', status: 'working' })
    const taskId = task.taskId as string
    const elsewhere = { at: address(chk, second) }
    expect((await taskCall(taskId, elsewhere)).result).toMatchObject({ status: 'working' })
    const canceled = await taskCall(taskId, elsewhere, 'tasks/cancel')
    expect(canceled.error).toMatchObject({ code: -32602, message: expect.stringContaining('not refunded') as unknown })
    open()
    const result = await ended(taskId, elsewhere)
    expect(result).toMatchObject({
      status: 'completed',
      result: { ...answered, _meta: { 'x402/payment-response': { success: true }, 'coinslot/payment': {} } },
    })
    expect(world.workflow.deliveries).toHaveLength(1)
  })

  test.each([
    ['its own address', 'p/:id/mcp'],
    ['its seller’s address', 'm/auditors/mcp'],
  ])('a guest’s call with a pass at %s becomes a task, readable by its id in any process', async (_, path) => {
    await world.seller.call('PATCH', '/v1/me', { body: { handle: 'auditors' } })
    const plans = [{ id: 'ten', name: 'Ten runs', price: 5, kind: 'runs', runs: 10 }]
    const name = `audit-${path.slice(0, 1)}`
    const { id } = await sell({ testMode: true, plans, product: { name } })
    const body = { input: INPUT, simulate: true, choice: { plan: 'ten' } }
    const { payment } = (await world.call('POST', `/p/${id}/pay`, { body })).body
    await until(() => world.workflow.deliveries.length === 1)
    await world.forget()
    const doorOf = ({ origin }: { origin: string }): string => `${origin}/${path.replace(':id', id)}`
    const [at, elsewhere] = [doorOf(world.service), { at: doorOf(second) }]
    const open = world.workflow.holds()
    const { result: task } = (await call({ 'coinslot/pass': payment.pass.token }, { at, name })).body
    expect(task).toMatchObject({ resultType: 'task', status: 'working' })
    const taskId = task.taskId as string
    expect((await taskCall(taskId, elsewhere)).result).toMatchObject({ status: 'working' })
    expect((await taskCall(taskId.split('.')[0]!, elsewhere)).error).toMatchObject({ code: -32602 })
    open()
    const result = { ...answered, _meta: { 'coinslot/pass': { runsLeft: 8 } } }
    expect(await ended(taskId, elsewhere)).toMatchObject({ status: 'completed', result })
    expect(world.workflow.deliveries).toHaveLength(1)
    // A token that is not good here is refused as before.
    const wrong = (await call({ 'coinslot/pass': `pst_${'x'.repeat(43)}` }, { at, name })).body.result
    expect(wrong).toMatchObject({ isError: true, structuredContent: { error: { code: 'pass_not_found' } } })
  })

  test('cannot be read with the operation, another guest’s task id, a key or another address', async () => {
    const begin = async () => (await call(await payment())).body.result.taskId as string
    const [taskId, other] = [await begin(), await begin()]
    const [operation, proof] = [taskId.split('.')[0]!, other.split('.')[1]!]
    const key = await buyer()
    const foreign = await sell()
    const refused = [
      await taskCall(operation),
      await taskCall(`${operation}.`),
      await taskCall(`${operation}.${proof}`),
      await taskCall(operation, { key }),
      await taskCall(taskId, { key }),
      await taskCall(taskId, { at: address(foreign.id) }),
      await taskCall('nonsense'),
    ]
    expect(refused.map(({ error }) => error?.code)).toEqual(refused.map(() => -32602))
    expect(await ended(taskId)).toMatchObject({ status: 'completed', result: answered })
  })

  test.each([
    { seller: 'with a wallet here', terms: { recipient: undefined } },
    { seller: 'with an address of their own', terms: {} },
  ])('of an account are tasks of that account only, at a seller $seller', async ({ terms }) => {
    const [{ id }, owner] = [await sell(terms), await person()]
    const at = address(id)
    const open = world.workflow.holds()
    const { agent } = (await owner.call('POST', '/v1/agents', { body: { name: 'A', limits: { perDay: 5 } } })).body
    const made = await owner.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })
    const [key, agents, other] = [owner.key, made.body.secret as string, (await world.service.person()).key]
    const { result: task } = (await call({}, { key, at })).body
    expect(task).toMatchObject({ resultType: 'task', status: 'working' })
    const taskId = task.taskId as string
    for (const stranger of [other, agents, null]) {
      expect((await taskCall(taskId, { key: stranger, at })).error).toMatchObject({ code: -32602 })
    }
    open()
    expect(await ended(taskId, { key, at: address(id, second) })).toMatchObject({
      status: 'completed',
      result: { ...answered, _meta: { 'coinslot/billing': { cost: 0.5 } } },
    })
    expect(world.workflow.deliveries).toHaveLength(1)
  })

  test('a workflow that does not answer ends the task with the payment and its token', async () => {
    world.workflow.answers({ delivery: { status: 429, body: '' } })
    const { result: task } = (await call(await payment())).body
    const taskId = task.taskId as string
    await until(() => world.workflow.deliveries.length > 0)
    expect((await taskCall(taskId)).result).toMatchObject({ status: 'working' })
    world.service.clock.forward(200_001)
    expect(await ended(taskId)).toMatchObject({
      status: 'completed',
      result: { structuredContent: { payment: { status: 'paid', token: expect.stringMatching(/^tok_/) as unknown } } },
    })
  })

  test('wait for the workflow with progress where a progress token was sent; else return the payment', async () => {
    const open = world.workflow.holds()
    let heard = ''
    const calls = [{ progressToken: 7 }, {}].map(async (more) =>
      call({ ...(await payment()), ...more }, { capabilities: {}, onPiece: (piece) => (heard += piece) }),
    )
    await until(() => world.workflow.deliveries.length === 2)
    for (const { headers } of world.workflow.deliveries) {
      await world.seller.call('POST', `/v1/deliveries/${String(headers['webhook-id'])}/claim`)
    }
    // Longer than a call waits that hears nothing.
    world.service.clock.forward(25_001)
    const { body } = await calls[1]!
    expect(body.result).toMatchObject({ structuredContent: { payment: { status: 'paid', token: expect.any(String) } } })
    // The other one looks again meanwhile, and speaks of the time.
    await until(() => heard.includes('The workflow has started.'))
    world.service.clock.forward(6_000)
    await until(() => heard.includes('has started. Waiting for'))
    open()
    const { events } = await calls[0]!
    expect(events.at(-1)!.result).toMatchObject(answered)
    const updates = events.slice(0, -1).map(({ params }) => params as { progress: number; message: string })
    const messages = updates.map(({ message }) => message)
    expect(messages).toEqual(expect.arrayContaining(['Paid. The workflow has started.']))
    expect(messages.at(-1)).toMatch(/^Paid\. The workflow has started\. Waiting for \d+ s\.$/)
    const numbers = updates.map(({ progress }) => progress)
    expect(numbers).toEqual([...numbers].sort((one, other) => one - other))
    expect(new Set(numbers).size).toBe(numbers.length)
  })
})

import { sendMcp } from '../harness/mcp.ts'
import type { TestPerson } from '../harness/service.ts'
import { dyingAt, SECRET, startReplica } from './calls/replica.ts'
import { toolWorld, type ToolWorld } from './calls/world.ts'
import { post } from './mcp-client.ts'

type Json = Record<string, unknown>
interface Named {
  /** In the header `Idempotency-Key`. */
  header?: string
  /** In the call's `_meta`. */
  meta?: unknown
  /** What was charged, as its answer names it. */
  payment?: Json
  input?: Json
  name?: string
  capabilities?: Json
}

/** A client that names its calls may repeat them: each is charged once, and its answer is not lost. */
describe('MCP calls with an idempotency key', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld({ AUTH_SECRET: SECRET, MCP_TASK_AFTER_MS: '20' })
  })
  beforeEach(() => {
    world.upstream.respondWith('/slow', { done: true })
  })
  afterAll(() => world.close())

  const paramsOf = ({ meta, payment, input = {}, name = 'acme-get-slow' }: Named) => ({
    ...{ name, arguments: input },
    ...(meta === undefined ? {} : { _meta: { 'coinslot/idempotency-key': meta } }),
    ...(payment === undefined ? {} : { _meta: { 'coinslot/payment': payment } }),
  })
  const headersOf = ({ header }: Named): Record<string, string> =>
    header === undefined ? {} : { 'idempotency-key': header }
  const at = ({ origin }: { origin: string }) => `${origin}/tools/mcp`
  /** In the newest version of the protocol. */
  const call = async (where: { origin: string }, person: TestPerson | null, named: Named) => {
    const message = { method: 'tools/call', params: paramsOf(named), headers: headersOf(named) }
    const { capabilities = {} } = named
    return (await post(at(where), person?.key ?? null, { ...message, capabilities })).body
  }
  /** In the versions before. */
  const callOlder = (where: { origin: string }, { key }: TestPerson, named: Named) =>
    sendMcp(
      at(where),
      { method: 'tools/call', params: paramsOf(named) },
      { authorization: `Bearer ${key}`, ...headersOf(named) },
    )
  const times = (): number => world.upstream.to('/slow').length
  const answered = { structuredContent: { done: true }, _meta: { 'coinslot/billing': { cost: 0.01 } } }

  test.each([
    ['the header', 'newer', { header: 'order-1' }],
    ['_meta', 'newer', { meta: 'order-1' }],
    ['the header', 'older', { header: 'order-1' }],
    ['_meta', 'older', { meta: 'order-1' }],
  ])(
    'by %s, in the %s version, return the answer of a process that died after the charge',
    async (_, version, named) => {
      const send = version === 'newer' ? call : callOlder
      const person = await world.caller()
      const before = times()
      const dying = dyingAt('call captured')
      const second = await startReplica(world.service, { AUTH_SECRET: SECRET }, dying.failpoints)
      const lost = send(second, person, named).catch(() => null)
      await dying.reached
      await second.abandon()
      await lost
      // The lease of the process that died.
      world.service.clock.forward(31_000)
      const found = (await send(world.service, person, named)).result as Json
      expect(found).toMatchObject(answered)
      expect((await send(world.service, person, named)).result).toEqual(found)
      expect(times()).toBe(before + 1)
      expect(await world.left(person)).toMatchObject({ credits: 4.99, locks: 0 })
    },
  )

  test('calls at the same time under one key are one call, in both versions', async () => {
    const person = await world.caller()
    const before = times()
    const open = world.upstream.holds('/slow', { done: true })
    const calls = [
      call(world.service, person, { header: 'k' }),
      callOlder(world.service, person, { header: 'k' }),
      call(world.service, person, { meta: 'k' }),
    ]
    await world.upstream.waitForRequest('/slow', before + 1)
    open()
    for (const body of await Promise.all(calls)) expect(body.result).toMatchObject(answered)
    expect(times()).toBe(before + 1)
    expect(await world.left(person)).toMatchObject({ credits: 4.99, locks: 0 })
  })

  test('a call that names a charged one is answered from it, and makes no other; without a stored answer none is named', async () => {
    const [person, other] = [await world.caller(), await world.caller()]
    const before = times()
    const first = (await call(world.service, person, { header: 'k' })).result as Json
    const { 'coinslot/payment': payment } = first['_meta'] as { 'coinslot/payment': { paymentId: string } }
    const { paymentId } = payment
    const unknown = { paymentId: paymentId.replace(/.{4}$/, '0000') }
    const missing = { isError: true, structuredContent: { error: { code: 'call_not_found' } } }
    for (const send of [call, callOlder]) {
      const named = async (by: TestPerson, of: Json, name?: string) =>
        (await send(world.service, by, { payment: of, ...(name === undefined ? {} : { name }) })).result as Json
      expect(await named(person, payment)).toMatchObject(answered)
      for (const refused of [
        await named(other, payment),
        await named(person, payment, 'acme-create-note'),
        await named(person, unknown),
        await named(person, { paymentId: 'pay_other' }),
      ]) {
        expect(refused).toMatchObject(missing)
      }
    }
    const unnamed = (await callOlder(world.service, person, {}))['result'] as Json
    expect(unnamed).toMatchObject(answered)
    expect(unnamed['_meta']).not.toHaveProperty('coinslot/payment')
    expect(times()).toBe(before + 2)
    expect([await world.left(person), await world.left(other)]).toMatchObject([{ credits: 4.98 }, { credits: 5 }])
  })

  test('the key with other arguments is refused; another account’s, and another key, are other calls', async () => {
    const [person, other] = [await world.caller(), await world.caller()]
    const before = times()
    await call(world.service, person, { header: 'k' })
    const conflict = { code: -32602, data: { code: 'idempotency_conflict' } }
    for (const changed of [{ input: { a: 1 } }, { name: 'search_tools' }]) {
      const newer = await call(world.service, person, { header: 'k', ...changed })
      expect(newer.error).toMatchObject(conflict)
      expect(await callOlder(world.service, person, { meta: 'k', ...changed })).toMatchObject({ error: conflict })
    }
    expect(times()).toBe(before + 1)
    await call(world.service, other, { header: 'k' })
    await call(world.service, person, { header: 'k', meta: 'comes-before-the-header' })
    expect(times()).toBe(before + 3)
    expect(await world.left(person)).toMatchObject({ credits: 4.98 })
  })

  test('a call that failed was free, so its repetition tries again', async () => {
    world.upstream.respondWith('/slow', {}, 400)
    const person = await world.caller()
    expect((await call(world.service, person, { header: 'k' })).result).toMatchObject({ isError: true })
    world.upstream.respondWith('/slow', { done: true })
    expect((await call(world.service, person, { header: 'k' })).result).toMatchObject(answered)
    expect(await world.left(person)).toMatchObject({ credits: 4.99, locks: 0 })
  })

  test('each call of a batch without keys is a call of its own, and is charged', async () => {
    const person = await world.caller()
    const before = times()
    const batch = Array.from({ length: 3 }, (_, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: paramsOf({}),
    }))
    const response = await fetch(at(world.service), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${person.key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(batch),
    })
    expect([...(await response.text()).matchAll(/"cost":0\.01/g)]).toHaveLength(3)
    expect(times()).toBe(before + 3)
    expect(await world.left(person)).toMatchObject({ credits: 4.97, locks: 0 })
  })

  test('a key of a wrong form is refused before anything is called', async () => {
    const person = await world.caller()
    const before = times()
    for (const meta of ['', 'with space', 'x'.repeat(256), 7, null, {}]) {
      expect((await call(world.service, person, { meta })).error).toMatchObject({ code: -32602 })
      expect(await callOlder(world.service, person, { meta })).toMatchObject({ error: { code: -32602 } })
    }
    expect(times()).toBe(before)
  })

  test('a repeated call whose task is working gets the same task', async () => {
    const person = await world.caller()
    const before = times()
    const open = world.upstream.holds('/slow', { done: true })
    const named = { header: 'k', capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } }
    const { result: task } = await call(world.service, person, named)
    expect(task).toMatchObject({ resultType: 'task', status: 'working' })
    expect((await call(world.service, person, named)).result).toMatchObject({ taskId: task.taskId as string })
    open()
    let last: Json
    do last = (await call(world.service, person, named)).result as Json
    while (last['resultType'] === 'task')
    expect(last).toMatchObject(answered)
    expect(times()).toBe(before + 1)
  })

  test('a call repeated after five failures is a task that works, in another process too, until it ends', async () => {
    world.upstream.respondWith('/slow', {}, 500)
    const person = await world.caller()
    for (let failures = 0; failures < 5; failures++) {
      expect((await call(world.service, person, { header: 'k' })).result).toMatchObject({ isError: true })
    }
    const before = times()
    const open = world.upstream.holds('/slow', { done: true })
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
    const { result: task } = await call(world.service, person, { header: 'k', capabilities })
    await world.upstream.waitForRequest('/slow', before + 1)
    const second = await startReplica(world.service, { AUTH_SECRET: SECRET })
    const params = { taskId: task.taskId as string }
    const read = async () =>
      (await post(at(second), person.key, { method: 'tasks/get', params, capabilities })).body.result as Json
    try {
      expect(await read()).toMatchObject({ status: 'working' })
      open()
      let last: Json
      do last = await read()
      while (last['status'] === 'working')
      expect(last).toMatchObject({ status: 'completed', result: answered })
      expect(await world.left(person)).toMatchObject({ credits: 4.99, locks: 0 })
    } finally {
      open()
      await second.close()
    }
  })

  test('in a session the lost stream of a named call is resumed by its event', async () => {
    const person = await world.caller()
    const open = world.upstream.holds('/slow', { done: true })
    const headers = {
      ...{ authorization: `Bearer ${person.key}`, 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    }
    const send = (message: Json, more: Record<string, string>, signal: AbortSignal | null = null) =>
      fetch(at(world.service), {
        ...{ method: 'POST', signal, headers: { ...headers, ...more } },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      })
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
    const begun = await send({ method: 'initialize', params }, {})
    await begun.text()
    const session = { 'mcp-session-id': String(begun.headers.get('mcp-session-id')) }
    const controller = new AbortController()
    const named = { ...session, 'idempotency-key': 'k' }
    const stream = await send({ method: 'tools/call', params: paramsOf({}) }, named, controller.signal)
    const { value } = await stream.body!.getReader().read()
    const [, id] = /^id: (.*)$/m.exec(Buffer.from(value).toString())!
    controller.abort()
    open()
    const resumed = await fetch(at(world.service), { headers: { ...headers, ...session, 'last-event-id': id! } })
    for await (const chunk of resumed.body!) {
      const data = /^data: (\{.*)$/m.exec(Buffer.from(chunk as Uint8Array).toString())?.[1]
      if (data === undefined) continue
      expect(JSON.parse(data)).toMatchObject({ result: answered })
      break
    }
    expect((await call(world.service, person, { header: 'k' })).result).toMatchObject(answered)
    expect(await world.left(person)).toMatchObject({ credits: 4.99, locks: 0 })
  })
})

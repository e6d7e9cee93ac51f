import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { hasRedis, startRedis, type RedisServer } from '../queue/redis.ts'
import { SECRET, startReplica, type Replica } from './calls/replica.ts'
import { toolWorld, type ToolWorld } from './calls/world.ts'

if (!hasRedis()) process.stderr.write('redis-server is not installed: limits over several processes are not tested\n')

/** Two processes, one database, one Redis. */
;(hasRedis() ? describe : describeNothing)('several processes with a Redis', () => {
  let redis: RedisServer
  let world: ToolWorld
  let other: Replica
  beforeAll(async () => {
    redis = await startRedis()
    const environment = {
      REDIS_URL: redis.url,
      AUTH_SECRET: SECRET,
      TOOL_CALLS_AT_ONCE: '4',
      RATE_TOOLS_PER_MINUTE: '30',
    }
    world = await toolWorld(environment)
    other = await startReplica(world.service, environment)
  })
  afterAll(async () => {
    await other.close()
    await world.close()
    await redis.close()
  })

  function at(origin: string, key: string, slug: string): Promise<Response> {
    return fetch(`${origin}/tools/${slug}`, { method: 'POST', headers: { authorization: `Bearer ${key}` } })
  }

  test('a key’s calls at once, and its calls of a minute, are counted together', async () => {
    const open = world.upstream.holds('/slow', {})
    const { key } = await world.caller()
    const origins = [world.service.origin, other.origin]
    const held = [0, 1, 2, 3].map((place) => at(origins[place % 2]!, key, 'acme-get-slow'))
    await world.upstream.waitForRequest('/slow', 4)
    for (const origin of origins) expect((await at(origin, key, 'acme-get-slow')).status).toBe(429)
    open()
    for (const answer of await Promise.all(held)) expect(answer.status).toBe(200)
    world.upstream.respondWith('/text', {})
    const answers = []
    for (let call = 0; call < 26; call++) answers.push((await at(origins[call % 2]!, key, 'acme-get-text')).status)
    // Six were asked above.
    expect(answers.filter((status) => status === 200)).toHaveLength(24)
    expect(answers.at(-1)).toBe(429)
  })

  test('a session works in both processes, and a cancel after the call left does not make it free', async () => {
    const open = world.upstream.holds('/slow', {})
    const person = await world.caller()
    const times = world.upstream.to('/slow').length
    let turn = 0
    const transport = new StreamableHTTPClientTransport(new URL(`${world.service.origin}/tools/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${person.key}` } },
      // As a balancer would that knows of no sessions.
      fetch: (url, init) => {
        const { pathname, search } = new URL(url)
        const origin = turn++ % 2 === 0 ? world.service.origin : other.origin
        return fetch(origin + pathname + search, init)
      },
    })
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport)
    for (let call = 0; call < 4; call++) expect((await client.listTools()).tools).toHaveLength(5)
    const stop = new AbortController()
    const pendingCall = client.callTool({ name: 'acme-get-slow', arguments: {} }, undefined, { signal: stop.signal })
    await world.upstream.waitForRequest('/slow', times + 1)
    stop.abort('enough')
    await expect(pendingCall).rejects.toThrow('enough')
    open()
    while ((await world.locks()) > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(await world.left(person)).toMatchObject({ credits: 4.99, locks: 0 })
    await client.close()
  })

  test('calls succeed without Redis', async () => {
    await redis.kill()
    const { key } = await world.caller()
    expect((await at(world.service.origin, key, 'acme-get-text')).status).toBe(200)
    await redis.revive()
  })
})

function describeNothing(name: string): void {
  test(name, () => {
    expect(hasRedis()).toBe(false)
  })
}

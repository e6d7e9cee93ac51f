import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { usdc } from '../../service/kit/money.ts'
import type { UpstreamAnswer } from '../../service/tools/model/tool.ts'
import { createPace } from '../../service/tools/service/calls/pace.ts'
import { toolWorld, importRequest, type ToolWorld } from './calls/world.ts'

const ok = { 200: { description: 'Done', content: { 'application/json': { schema: { type: 'object' } } } } }
const DOCUMENT = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Paced', version: '1' },
  servers: [{ url: 'https://paced.example' }],
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  security: [{ key: [] }],
  paths: {
    '/data': { get: { operationId: 'readData', summary: 'Read the data', responses: ok } },
    '/jobs': { post: { operationId: 'createJob', summary: 'Begin a job', responses: ok } },
  },
})

describe('servers that want no more calls for a while', () => {
  let world: ToolWorld
  let provider = 0
  let slug = ''
  beforeAll(async () => {
    world = await toolWorld({ TOOL_TIMEOUT_MS: '5000' })
  })
  afterAll(() => world.close())

  async function bring(keys: string): Promise<void> {
    slug = `paced${String(++provider)}`
    const { catalogue } = world.service
    await catalogue.importDocument(
      importRequest(world.upstream.url, { slug, name: slug, pricing: { otherwise: usdc(1n) } }),
      DOCUMENT,
    )
    const providerRef = { environment: 'sandbox', ownerId: null, provider: slug } as const
    await catalogue.setCredentials(providerRef, keys)
    await catalogue.setPublic(providerRef, true)
  }

  /** How often each key came. */
  function counting(path: string, answer: (key: string, times: number) => number | { retryAfter: string }) {
    const times = new Map<string, number>()
    world.upstream.on(path, ({ headers }, response) => {
      const key = String(headers['x-key'])
      times.set(key, (times.get(key) ?? 0) + 1)
      const reply = answer(key, times.get(key)!)
      if (typeof reply === 'number') json(response, reply)
      else json(response, 429, { 'retry-after': reply.retryAfter })
    })
    return times
  }

  function json(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ status }))
  }

  test('a rate-limited key pauses while the others take turns', async () => {
    await bring('first-key-1\nsecond-key\n  third-key-1  \n')
    const times = counting('/data', (key) => (key === 'first-key-1' ? { retryAfter: '30' } : 200))
    const caller = await world.caller()
    for (let call = 0; call < 9; call++) {
      expect((await world.call(caller, `${slug}-read-data`)).body).toMatchObject({ output: { status: 200 } })
    }
    expect(times.get('first-key-1')).toBe(1)
    expect([...times.values()].reduce((sum, count) => sum + count)).toBe(10)
    expect(Math.min(times.get('second-key')!, times.get('third-key-1')!)).toBeGreaterThanOrEqual(4)
    expect(await world.left(caller)).toMatchObject({ credits: 4.999991, locks: 0 })
  })

  test('calls wait for the end of a pause, and one of them tries first', async () => {
    await bring('the-only-key')
    const { catalogue, clock } = world.service
    const pace = createPace({ timeoutMs: 5_000, clock })
    const tool = await catalogue.bySlug('sandbox', `${slug}-read-data`, null)
    const keys = await catalogue.credentials(tool)
    const answer = (status: number, retryAfter: string | null = null): UpstreamAnswer => ({
      ...{ status, contentType: null, body: Buffer.alloc(0) },
      follow: { location: null, operation: null, retryAfter },
    })
    const answers: ((answer: UpstreamAnswer) => void)[] = []
    let arrived: () => void = () => undefined
    const arrival = () => new Promise<void>((resolve) => (arrived = resolve))
    const call = () =>
      pace.ask(tool, keys, {
        signal: new AbortController().signal,
        send: () =>
          new Promise<UpstreamAnswer>((resolve) => {
            answers.push(resolve)
            arrived()
          }),
      })
    const begun = performance.now() // eslint-disable-line house/steady-tests -- See below.
    const first = call()
    await setImmediate()
    let next = arrival()
    answers[0]!(answer(429, '1'))
    await setImmediate()
    const others = [call(), call(), call()]
    await next
    // eslint-disable-next-line house/steady-tests -- At least so long: a slow machine only makes it longer.
    expect(performance.now() - begun).toBeGreaterThanOrEqual(999)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    // One of the four, refused once more.
    expect(answers).toHaveLength(2)
    next = arrival()
    answers[1]!(answer(429, '1'))
    await next
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    expect(answers).toHaveLength(3)
    answers[2]!(answer(200))
    while (answers.length < 6) await setImmediate()
    for (const each of answers) each(answer(200))
    expect((await Promise.all([first, ...others])).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  test('a rest that outlasts a call fails it; later calls fail without a request', async () => {
    await bring('the-only-key')
    const times = counting('/data', () => ({ retryAfter: '3600' }))
    const caller = await world.caller()
    const refused = await world.call(caller, `${slug}-read-data`)
    expect([refused.status, refused.body.upstream]).toEqual([502, expect.objectContaining({ status: 429 })])
    const answer = await world.call(caller, `${slug}-read-data`)
    expect([answer.status, answer.body.code, answer.body.error]).toEqual([
      503,
      'provider_busy',
      `${slug} accepts no more calls for now; try again in 60 s. Nothing was charged.`,
    ])
    expect(answer.headers.get('retry-after')).toBe('60')
    expect(times.get('the-only-key')).toBe(1)
    expect(await world.left(caller)).toMatchObject({ credits: 5, locks: 0 })
  })

  test('a refusal without a time is tried four times, then returned', async () => {
    await bring('the-only-key')
    const times = counting('/data', () => ({ retryAfter: 'soon' }))
    const { status, body } = await world.call(await world.caller(), `${slug}-read-data`)
    expect([status, body.upstream.status, times.get('the-only-key')]).toEqual([502, 429, 4])
  })

  test('accepted work is not started again when its status request is refused', async () => {
    await bring('the-only-key')
    const begun = counting('/jobs', () => 0)
    world.upstream.on('/jobs', ({ headers }, response) => {
      begun.set(String(headers['x-key']), (begun.get(String(headers['x-key'])) ?? 0) + 1)
      json(response, 202, { location: '/jobs/1' })
    })
    counting('/jobs/1', (_, times) => (times === 1 ? { retryAfter: '1' } : 200))
    const { body } = await world.call(await world.caller(), `${slug}-create-job`)
    expect([body.output, [...begun.values()]]).toEqual([{ status: 200 }, [1]])
  })

  test('keys are one a line, and at most twenty', async () => {
    await bring('the-only-key')
    const { catalogue } = world.service
    const set = (keys: string) =>
      catalogue.setCredentials({ environment: 'sandbox', ownerId: null, provider: slug }, keys)
    await expect(set('one two')).rejects.toMatchObject({
      fields: { details: { credentials: expect.stringContaining('one key a line') } },
    })
    await expect(set(' \n ')).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(set('key\n'.repeat(21))).rejects.toMatchObject({
      fields: { details: { credentials: 'must be at most 20 keys' } },
    })
  })
})

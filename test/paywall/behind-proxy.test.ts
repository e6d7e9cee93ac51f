import { WebSocket } from 'ws'
import { openWorld, type World } from './world.ts'

const LIMIT = 3

describe.each([
  ['a proxy that is trusted', 'loopback'],
  ['an untrusted proxy', ''],
])('WebSockets through %s', (_what, trusted) => {
  let world: World
  let gate: string
  beforeAll(async () => {
    world = await openWorld({
      environment: {
        TRUST_PROXY: trusted,
        RATE_GATE_PER_MINUTE: String(LIMIT),
        PUBLIC_GATE_URL: 'https://apis.example/gate',
        ALLOW_PRIVATE_CALLBACKS: 'true',
      },
    })
    const { gate: at } = await world.sell([{ path: '/socket', pricing: { model: 'free' } }])
    gate = `${at.replace('http', 'ws')}/socket`
  })
  afterAll(() => world.close())

  const isTrusted = trusted !== ''

  /** Opens an upgraded connection and closes it again; returns the status. */
  async function upgrade(headers: Record<string, string>): Promise<number> {
    const socket = new WebSocket(gate, { headers })
    return await new Promise((resolve, reject) => {
      socket.on('open', () => {
        socket.close()
        resolve(101)
      })
      socket.on('unexpected-response', (_request, response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      socket.on('error', reject)
    })
  }

  it(`are ${isTrusted ? '' : 'not '}forwarded to the API with the address that the proxy names`, async () => {
    const named = { 'x-forwarded-for': '198.51.100.9, 203.0.113.7', 'x-forwarded-proto': 'http' }
    expect(await upgrade({ ...named, host: 'evil.example', 'x-forwarded-host': 'evil.example' })).toBe(101)
    const { headers } = world.upstream.requests.at(-1)!
    // The nearest address that is no trusted proxy; addresses before it are only the client's claim.
    expect(headers).toMatchObject({ 'x-forwarded-host': 'apis.example', 'x-forwarded-proto': 'https' })
    expect(headers['x-forwarded-for']?.toString().replace('::ffff:', '')).toBe(isTrusted ? '203.0.113.7' : '127.0.0.1')
  })

  it(`share ${isTrusted ? 'no' : 'one'} limit`, async () => {
    const of = (client: number) => upgrade({ 'x-forwarded-for': `203.0.113.${String(100 + client)}` })
    const answers = []
    for (let time = 0; time < LIMIT + 1; time++) answers.push(await of(1))
    expect(answers.at(-1)).toBe(429)
    expect(answers.slice(0, LIMIT - 1)).toEqual(Array.from({ length: LIMIT - 1 }, () => 101))
    expect(await of(2)).toBe(isTrusted ? 101 : 429)
    // Extra addresses in the header do not make it another client.
    expect(await upgrade({ 'x-forwarded-for': '198.51.100.1, 203.0.113.101' })).toBe(429)
  })
})

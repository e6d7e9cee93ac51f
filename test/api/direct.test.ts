import { once } from 'node:events'
import { connect } from 'node:net'
import { pino } from 'pino'
import { V2 } from '../facilitator/bodies.ts'
import { testService, type TestService } from '../harness/service.ts'

/** What Express serves at this address: a question mark alone is no other address, but is not served directly. */
const BY_SEARCH = '?'

describe('an address that is served directly', () => {
  const lines: Record<string, unknown>[] = []
  let service: TestService
  beforeAll(async () => {
    const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line) as never) })
    const limits = { RATE_VERIFY_PER_MINUTE: '0', RATE_SETTLE_PER_MINUTE: '0', CORS_ORIGINS: 'https://shop.example' }
    service = await testService(limits, { log })
  })
  afterAll(() => service.close())

  const json = ['content-type: application/json']
  const cases = [
    { name: 'a body that is no payment', headers: json, body: '{"x402Version":2}' },
    { name: 'a payment on a network without an RPC', headers: json, body: JSON.stringify(V2.x402Version) },
    { name: 'a body that is no JSON', headers: json, body: '{' },
    { name: 'no body', headers: [], body: '' },
    { name: 'a body of another type', headers: ['content-type: text/plain'], body: '{}' },
    { name: 'a compressed body', headers: [...json, 'content-encoding: gzip'], body: '{}' },
    { name: 'a body that is too large', headers: json, body: `"${'x'.repeat(70_000)}"` },
    { name: 'two Host headers', headers: [...json, 'host: other.example'], body: '{}' },
    { name: 'an origin that is allowed', headers: [...json, 'origin: https://shop.example'], body: '{}' },
    { name: 'another origin', headers: [...json, 'origin: https://other.example'], body: '{}' },
    { name: 'an idempotency key', headers: [...json, 'idempotency-key: one-and-the-same'], body: '{"x402Version":1}' },
    { name: 'a malformed idempotency key', headers: [...json, 'idempotency-key: a b'], body: '{"x402Version":1}' },
    { name: 'a browser', headers: [...json, 'accept: text/html'], body: '{}' },
  ]

  it.each(cases.flatMap((one) => ['verify', 'settle'].map((verb) => ({ ...one, verb }))))(
    '$verb answers $name as Express does',
    async ({ verb, headers, body }) => {
      const path = `/facilitator/${verb}`
      const direct = await exchange(path, headers, body)
      const searched = await exchange(path + BY_SEARCH, headers, body)
      expect(direct).toEqual(searched)
      expect(direct).toContain('Cache-Control: no-store')
    },
  )

  it('is logged, counted and identified as by Express', async () => {
    lines.length = 0
    const body = '{"x402Version":1}'
    for (const end of ['', BY_SEARCH]) await exchange(`/facilitator/verify${end}`, json, body)
    const differs: ReadonlySet<string> = new Set(['requestId', 'ms', 'time'])
    const requests = lines
      .filter(({ msg }) => msg === 'request')
      .map((line) => Object.fromEntries(Object.entries(line).filter(([name]) => !differs.has(name))))
    expect(requests).toHaveLength(2)
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/facilitator/verify', status: 400 })
    expect(requests[0]).toEqual(requests[1])
    const { text } = await service.call('GET', '/metrics')
    const routes = [...text.matchAll(/_count\{[^}]*route="(\/facilitator[^"]*)"/g)].map(([, route]) => route)
    expect(new Set(routes)).toEqual(new Set(['/facilitator/verify', '/facilitator/settle']))
  })

  it('serves no other method there', async () => {
    for (const method of ['GET', 'PUT', 'TRACE'])
      expect(await exchange('/facilitator/verify', json, '', method)).toMatch(/^HTTP\/1\.1 404 /m)
  })

  /** The whole answer as text, without what differs from one answer to the next. */
  async function exchange(path: string, headers: string[], body: string, method = 'POST'): Promise<string> {
    const socket = connect(Number(new URL(service.origin).port), '127.0.0.1').setEncoding('utf8')
    let text = ''
    socket.on('data', (part: string) => (text += part))
    const all = [
      'host: localhost',
      'connection: close',
      `content-length: ${String(Buffer.byteLength(body))}`,
      ...headers,
    ]
    socket.on('error', () => undefined)
    socket.write(`${method} ${path} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`)
    await once(socket, 'close')
    const [head = '', answer = ''] = text.split('\r\n\r\n')
    const own = /^(?:date|x-request-id):/i
    // In the order of their names: the order in which headers are set means nothing.
    const set = head.split('\r\n').filter((line) => !own.test(line))
    return `${set.sort().join('\n')}\n\n${answer.replace(/"requestId":"[^"]*"/, '')}`
  }
})

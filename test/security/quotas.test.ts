import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import express from 'express'
import { healthRouter } from '../../service/api/health.ts'
import { Metrics } from '../../service/api/metrics.ts'
import { openRequest, answerErrors } from '../../service/api/requests.ts'
import { listen, type ConnectionLimits } from '../../service/api/server.ts'
import { serveUpgrades } from '../../service/api/upgrades.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { createLog } from '../../service/api/log.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'

const AT_ONCE = Array.from({ length: 8 }, (_, place) => place)
const RECIPIENT = `0x${'77'.repeat(20)}`
const MAKERS: Readonly<Record<string, { path: string; limit: number; body: (nth: number) => object }>> = {
  keys: { path: '/v1/keys', limit: 3, body: (nth) => ({ name: `key ${String(nth)}` }) },
  agents: { path: '/v1/agents', limit: 2, body: (nth) => ({ name: `agent ${String(nth)}` }) },
  paywalls: {
    path: '/v1/paywalls',
    limit: 2,
    body: (nth) => ({
      ...{ slug: `wall-${String(nth)}`, name: 'Wall', upstreamUrl: 'http://127.0.0.1:9', network: 'base-sepolia' },
      ...{ recipient: RECIPIENT, testMode: true },
      routes: [{ method: 'GET', path: '/*', pricing: { model: 'free' } }],
    }),
  },
  active_checkouts: {
    path: '/v1/checkouts',
    limit: 2,
    body: (nth) => ({
      ...{ callbackUrl: 'http://127.0.0.1:9/flow', price: 1, network: 'base-sepolia', recipient: RECIPIENT },
      ...{ product: { name: `Product ${String(nth)}` }, lifetime: 'persistent', testMode: true },
    }),
  },
}

describe('the rate limit of an address without an account', () => {
  it('is counted once for tools and checkouts together', async () => {
    const service = await testService({ RATE_PAY_PER_MINUTE: '2', ALLOW_HOSTS: '127.0.0.1' })
    const person = await service.person()
    const { checkout } = (await person.call('POST', '/v1/checkouts', { body: MAKERS['active_checkouts']!.body(1) }))
      .body
    const request = async (address: string) => {
      const { text } = await service.call('POST', address, {
        headers: { accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search_tools', arguments: {} } },
      })
      return text
    }
    expect(await request('/tools/mcp')).not.toContain('rate_limited')
    expect(await request('/tools/mcp')).not.toContain('rate_limited')
    expect(await request(`/p/${String(checkout.id)}/mcp`)).toContain('rate_limited')
    await service.close()
  })
})

describe('the quotas of an account', () => {
  let service: TestService
  let person: TestPerson
  beforeAll(async () => {
    service = await testService({
      ...{ QUOTA_KEYS: '3', QUOTA_AGENTS: '2', QUOTA_PAYWALLS: '2', QUOTA_ACTIVE_CHECKOUTS: '2' },
      ...{ QUOTA_EVENT_STREAMS: '2', RATE_SIGN_IN_PER_MINUTE: '5' },
    })
    person = await service.person()
  })
  afterAll(() => service.close())

  test.each(Object.entries(MAKERS))('limit %s, also for concurrent requests', async (quota, maker) => {
    const answers = await Promise.all(AT_ONCE.map((nth) => person.call('POST', maker.path, { body: maker.body(nth) })))
    const created = answers.filter(({ status }) => status === 201)
    // The key that this person uses is one of its keys.
    expect(created).toHaveLength(quota === 'keys' ? maker.limit - 1 : maker.limit)
    for (const { status, body } of answers.filter(({ status }) => status !== 201)) {
      expect([status, body]).toEqual([
        429,
        expect.objectContaining({ code: 'quota_exceeded', quota, limit: maker.limit, resetsAt: null }),
      ])
    }
    // Deleting one makes room for another; repeating the same operation does not count as another one.
    const [first] = Object.values(created[0]!.body as Record<string, { id: string }>)
    expect((await person.call('DELETE', `${maker.path}/${first!.id}`)).status).toBeLessThan(300)
    const headers = { 'idempotency-key': `again-${quota}` }
    const once = await person.call('POST', maker.path, { body: maker.body(100), headers })
    const again = await person.call('POST', maker.path, { body: maker.body(100), headers })
    expect([once.status, again.status]).toEqual([201, 201])
    // Another account, and the other environment, have quotas of their own.
    const other = await service.person()
    expect((await other.call('POST', maker.path, { body: maker.body(200) })).status).toBe(201)
  })

  test('limit event streams over all keys and addresses, and a closed one is free again', async () => {
    const key = (await service.person()).key
    const open = async (path: string): Promise<{ status: number; end: () => void; text: () => Promise<string> }> => {
      const ends = new AbortController()
      const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' }
      const response = await fetch(service.origin + path, { headers, signal: ends.signal })
      return { status: response.status, end: () => ends.abort(), text: () => response.text() }
    }
    const first = await open('/tools/mcp')
    const second = await open('/tools/mcp?view=all')
    const third = await open('/tools/mcp')
    expect([first.status, second.status, third.status]).toEqual([200, 200, 429])
    expect(JSON.parse(await third.text())).toMatchObject({ code: 'quota_exceeded', quota: 'event_streams', limit: 2 })
    first.end()
    let status = 429
    while (status === 429) {
      const next = await open('/tools/mcp')
      status = next.status
      if (status === 429) await next.text()
      else next.end()
    }
    second.end()
    expect(status).toBe(200)
  })

  test('count sign-in attempts by e-mail address, too', async () => {
    const trust = await testService({ RATE_SIGN_IN_PER_MINUTE: '3', TRUST_PROXY: 'loopback' })
    try {
      const statuses: number[] = []
      for (let nth = 0; nth < 5; nth++) {
        const { status } = await trust.call('POST', '/auth/sign-in/email', {
          body: { email: nth % 2 === 0 ? 'Victim@example.org' : ' victim@example.org', password: 'a guess, no doubt' },
          headers: { 'x-forwarded-for': `198.51.100.${String(nth)}` },
        })
        statuses.push(status)
      }
      expect(statuses.slice(3)).toEqual([429, 429])
      expect(statuses.slice(0, 3)).not.toContain(429)
      // With a byte order mark in front it is the same address.
      const marked = await fetch(`${trust.origin}/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.99' },
        body: `\ufeff${JSON.stringify({ email: 'victim@example.org', password: 'a guess, no doubt' })}`,
      })
      expect(marked.status).toBe(429)
      // A whole /64 counts as one address.
      const tries: number[] = []
      for (let nth = 0; nth < 4; nth++) {
        const { status } = await trust.call('POST', '/auth/sign-in/email', {
          body: { email: `other${String(nth)}@example.org`, password: 'a guess, no doubt' },
          headers: { 'x-forwarded-for': `2001:db8:0:1::${String(nth + 1)}` },
        })
        tries.push(status)
      }
      expect(tries[3]).toBe(429)
    } finally {
      await trust.close()
    }
  })
})

test('the password of a session is guessed ten times an hour, from however many addresses', async () => {
  const trust = await testService({ TRUST_PROXY: 'loopback' })
  try {
    const password = 'the right one, no doubt'
    const signedUp = await trust.call('POST', '/auth/sign-up/email', {
      body: { name: 'V', email: 'v@example.org', password },
    })
    const tries = async (path: string, body: (nth: number) => object): Promise<number[]> => {
      const statuses: number[] = []
      for (let nth = 0; nth < 6; nth++) {
        const { status } = await trust.call('POST', path, {
          key: String(signedUp.body.token),
          body: body(nth),
          headers: { 'x-forwarded-for': `198.51.100.${String(nth)}` },
        })
        statuses.push(status)
      }
      return statuses
    }
    const guess = 'a guess, no doubt'
    const first = await tries('/auth/change-password', () => ({ currentPassword: guess, newPassword: password }))
    expect(first).not.toContain(429)
    const second = await tries('/auth/email/change', (nth) => ({
      email: `n${String(nth)}@example.org`,
      password: guess,
    }))
    expect([second.slice(0, 4).includes(429), second.slice(4)]).toEqual([false, [429, 429]])
  } finally {
    await trust.close()
  }
})

describe('one address', () => {
  test('has a limited number of connections, and closed ones are free again', async () => {
    const app = express().get('/', (_request, response) => void response.send('fine'))
    const server = await listen(app, 0, '127.0.0.1', { connectionsPerAddress: 2, shared: () => false })
    const open: Socket[] = []
    const opened = async (): Promise<Socket> => {
      const socket = connect(server.port, '127.0.0.1')
      open.push(socket)
      await once(socket, 'connect')
      return socket
    }
    const request = async (socket: Socket): Promise<string> => {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      const [bytes] = (await once(socket, 'data')) as [Buffer]
      return bytes.toString()
    }
    try {
      const first = await opened()
      expect(await request(first)).toContain('200 OK')
      expect(await request(await opened())).toContain('200 OK')
      const third = await opened()
      const [bytes] = (await once(third, 'data')) as [Buffer]
      expect(bytes.toString()).toMatch(/^HTTP\/1\.1 429 [^]*"quota":"connections","limit":2/)
      first.destroy()
      let answer = ''
      while (!answer.includes('200 OK')) {
        const next = await opened()
        answer = await request(next).catch(() => '')
        if (!answer.includes('200 OK')) next.destroy()
      }
      expect(answer).toContain('200 OK')
    } finally {
      for (const socket of open) socket.destroy()
      await server.drain(100)
    }
  })
})

describe('a connection whose every request offers another protocol', () => {
  const OFFER = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'

  async function answersTo(offers: number, limits: Partial<ConnectionLimits>): Promise<string[]> {
    const app = express().get('/', (_request, response) => void response.send('fine'))
    serveUpgrades(app, [{ path: '/socket', handler: (_request, socket) => socket.destroy() }])
    const server = await listen(app, 0, '127.0.0.1', { ...limits, shared: () => false })
    const socket = connect(server.port, '127.0.0.1')
    try {
      const answers: string[] = []
      while (answers.length < offers && !socket.readableEnded) {
        socket.write(OFFER)
        const [bytes] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown]
        answers.push(String(bytes))
      }
      return answers
    } finally {
      socket.destroy()
      await server.drain(100)
    }
  }

  test('is one connection', async () => {
    const answers = await answersTo(12, { connectionsPerAddress: 2 })
    expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 200'))).toHaveLength(12)
  })

  test('has no more requests than any other', async () => {
    const answers = await answersTo(3, { requestsPerConnection: 3 })
    expect(answers.map((answer) => /^Connection: close/im.test(answer))).toEqual([false, false, true])
  })
})

describe('the metrics of a live server', () => {
  test.each([
    ['without a token, from the machine itself', undefined, {}, 200],
    ['without a token, through a proxy on the machine', undefined, { 'x-forwarded-for': '203.0.113.1' }, 401],
    ['with a token, and none sent', 'the token of the metrics', {}, 401],
    [
      'with a token that is sent',
      'the token of the metrics',
      { authorization: 'Bearer the token of the metrics' },
      200,
    ],
  ])('%s', async (_name, metricsToken, headers, expected) => {
    const metrics = new Metrics()
    const log = createLog('silent')
    const health = {
      draining: () => false,
      loading: async () => null,
      database: async () => true,
      parts: async () => ({}),
    }
    const app = express()
    app.use(openRequest(systemClock, log, metrics), healthRouter(health, metrics, { metricsToken, live: true }))
    app.use(answerErrors(log))
    const server = await listen(app, 0, '127.0.0.1')
    try {
      const { status } = await fetch(`http://127.0.0.1:${String(server.port)}/metrics`, { headers })
      expect(status).toBe(expected)
    } finally {
      await server.drain(100)
    }
  })
})

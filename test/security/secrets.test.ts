import { randomBytes } from 'node:crypto'
import { createHmac } from 'node:crypto'
import { testService, type Answer, type TestService } from '../harness/service.ts'
import { agentBody, promptBody, toolBody } from '../marketplace/bodies.ts'

/** What a thief of the database, of a copy or of a backup can do with it, and what not. */
describe('secrets', () => {
  let service: TestService
  /** Secrets by name; none of them may be readable anywhere. */
  const secrets = new Map<string, string>()
  let session = ''

  beforeAll(async () => {
    service = await testService({ ALLOW_HOSTS: '127.0.0.1:9', RATE_API_PER_MINUTE: '0' })
    const password = `correct horse ${random()}`
    secrets.set('password', password)
    const signedUp = await must('POST', '/auth/sign-up/email', { email: 'ann@example.com', password, name: 'Ann' })
    session = String(signedUp.body.token)
    secrets.set('session token', session)
    for (const cookie of signedUp.headers.getSetCookie()) {
      const value = decodeURIComponent(/=([^;]*)/.exec(cookie)?.[1] ?? '')
      if (value !== '') secrets.set(`cookie ${cookie.split('=')[0] ?? ''}`, value)
    }

    const post = async (path: string, body: object): Promise<Answer['body']> =>
      (await must('POST', `/v1${path}`, body, session)).body
    const key = String((await post('/keys', { name: 'key' })).secret)
    secrets.set('API key', key)
    const { agent } = await post('/agents', { name: 'Agent' })
    secrets.set("agent's key", String((await post('/keys', { name: 'bound', agentId: agent.id })).secret))
    const first = (await must('GET', '/v1/signing-secret', undefined, session)).body.signingSecret.secret
    secrets.set('signing secret before', String(first))
    secrets.set('signing secret', String((await post('/signing-secret', {})).signingSecret.secret))
    await post('/wallet/deposit', { amount: 5 })

    const hook = { url: 'http://127.0.0.1:9/hook', events: ['run.completed'] }
    secrets.set('receiver’s secret', String((await post('/webhook-endpoints', hook)).secret))
    const own = `whsec_${randomBytes(32).toString('base64')}`
    await post('/webhook-endpoints', { ...hook, url: 'http://127.0.0.1:9/own', secret: own })
    secrets.set('receiver’s own secret', own)

    const sale = { network: 'base-sepolia', recipient: `0x${'11'.repeat(20)}`, testMode: true }
    const product = { name: 'Audit' }
    const checkout = await post('/checkouts', { ...sale, callbackUrl: 'http://127.0.0.1:9/flow', product, price: 1 })
    secrets.set('checkout’s secret', String(checkout.secret))
    const rotated = await post(`/checkouts/${String(checkout.checkout.id)}/rotate-secret`, {})
    secrets.set('checkout’s next secret', String(rotated.secret))

    const upstreamKey = secret('upstream’s key')
    const paywall = await post('/paywalls', {
      ...{ ...sale, slug: 'weather', name: 'Weather', upstreamUrl: 'http://127.0.0.1:9' },
      upstreamHeaders: { Authorization: `Bearer ${upstreamKey}` },
      routes: [{ method: 'GET', path: '/*', pricing: { model: 'per-request', amount: 0.01 } }],
    })
    secrets.set('paywall’s secret', String(paywall.secret ?? upstreamKey))

    const agentConfig = {
      ...{ webhookUrl: 'http://127.0.0.1:9/agent', basePrice: 0.25 },
      webhookHeaders: { Authorization: `Bearer ${secret('creator’s header')}` },
    }
    await post('/rda', agentBody({ agentConfig }))
    const toolConfig = {
      ...{ apiEndpoint: 'http://127.0.0.1:9/tool', apiMethod: 'GET', authType: 'api_key', basePrice: 0.01 },
      apiHeaders: { 'X-Client': secret('creator’s client id') },
      authConfig: { headerName: 'X-API-Key', apiKey: secret('creator’s API key') },
    }
    await post('/rda', toolBody({ toolConfig }))
    // A response that is stored for repeated requests contains no secret.
    const headers = { 'idempotency-key': 'again' }
    const created = await service.call('POST', '/v1/keys', { key: session, body: { name: 'kept' }, headers })
    secrets.set('key of a kept answer', String(created.body.secret))
    const { rda } = await post('/rda', promptBody())
    await service.call('POST', '/v1/run', { key, body: { rdaSlug: rda.slug, inputs: { article: 'x' } } })
  })
  afterAll(() => service.close())

  test('are in no column of any table', async () => {
    expect(secrets.size).toBeGreaterThan(16)
    for (const [name, value] of secrets) expect([name, value.length]).toEqual([name, expect.any(Number)])
    expect([...secrets].filter(([, value]) => value.length < 16)).toEqual([])
    const found: string[] = []
    let rows = 0
    for (const { table } of await tables()) {
      const all = await service.database.statements.run<{ line: string }>(
        `SELECT to_jsonb(t)::text AS line FROM "${table}" t`,
        [],
      )
      rows += all.length
      for (const { line } of all) {
        for (const [name, value] of secrets)
          if (forms(value).some((form) => line.includes(form))) found.push(`${name} in ${table}`)
      }
    }
    expect(found).toEqual([])
    // Ensures that the search covered some rows: a search of nothing would find nothing.
    expect(rows).toBeGreaterThan(50)
  })

  test('a link for a new password cannot be made from its row', async () => {
    const { user } = (await service.call('GET', '/auth/get-session', { key: session })).body
    const token = createHmac('sha256', 'x').update('x').digest('base64url')
    await service.identity.sendReset(String(user.id), 'mail-1')
    const rows = await service.database.prisma.signInVerification.findMany({ where: { value: String(user.id) } })
    expect(rows).toHaveLength(1)
    const [row] = rows
    const guesses = [token, row!.identifier, row!.identifier.replace(/^reset-password:/, '')]
    for (const guess of guesses) {
      const body = { token: guess, newPassword: 'stolen horse battery' }
      expect((await service.call('POST', '/auth/reset-password', { body })).status).toBe(400)
    }
  })

  test('of a session cannot be derived from its row', async () => {
    const rows = await service.database.prisma.signInSession.findMany()
    expect(rows.length).toBeGreaterThan(0)
    for (const { token, id } of rows) {
      for (const guess of [token, id, `${token}.`, `${token}.${'A'.repeat(43)}=`]) {
        expect((await service.call('GET', '/v1/me', { key: guess })).status).toBe(401)
        const cookie = `coinslot.session_token=${guess}`
        expect((await service.call('GET', '/v1/me', { headers: { cookie } })).status).toBe(401)
        expect((await service.call('GET', '/auth/get-session', { key: guess })).body).toBeNull()
      }
    }
    expect((await service.call('GET', '/v1/me', { key: session })).status).toBe(200)
  })

  test('a session id chosen by the client is not adopted at the sign-in', async () => {
    const fixed = `${'f'.repeat(32)}.${'A'.repeat(43)}=`
    const body = { email: 'ann@example.com', password: secrets.get('password') }
    const headers = { cookie: `coinslot.session_token=${encodeURIComponent(fixed)}`, origin: 'http://localhost:0' }
    const { status, headers: answerHeaders } = await service.call('POST', '/auth/sign-in/email', { body, headers })
    expect(status).toBe(200)
    const setCookie = answerHeaders.getSetCookie().find((line) => line.startsWith('coinslot.session_token='))
    expect(setCookie).not.toContain('f'.repeat(32))
    expect((await service.call('GET', '/v1/me', { headers: { cookie: headers.cookie } })).status).toBe(401)
    // And each sign-in creates another session.
    const again = await service.call('POST', '/auth/sign-in/email', { body })
    expect(again.body.token).not.toBe(session)
  })

  async function must(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    const options = { ...(body && { body }), ...(key && { key }) }
    const answer = await service.call(method, path, options)
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
    return answer
  }

  function tables(): Promise<{ table: string }[]> {
    return service.database.statements.run<{ table: string }>(
      `SELECT table_name AS "table" FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
      [],
    )
  }

  function secret(name: string): string {
    const value = random()
    secrets.set(name, value)
    return value
  }
})

function random(): string {
  return randomBytes(24).toString('hex')
}

/** The value itself, its bytes, and the bytes that it encodes, in every way they may be written. */
function forms(value: string): string[] {
  const bare = value.replace(/^(whsec_|csk_(test|live)_)/, '')
  const bytes = Buffer.from(value)
  const behind = value.startsWith('whsec_') ? [Buffer.from(bare, 'base64')] : []
  return [
    value,
    bare,
    JSON.stringify(value).slice(1, -1),
    ...[bytes, ...behind].flatMap((one) => [one.toString('hex'), one.toString('base64')]),
  ]
}

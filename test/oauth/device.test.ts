import fc from 'fast-check'
import {
  DEVICE_GRANT,
  pollOf,
  shownUserCode,
  USER_CODE_LETTERS,
  userCodeOf,
} from '../../service/oauth/rules/devices.ts'
import { oauthWorld, type OAuthWorld } from './world.ts'

const CLIENT = 'coinslot-cli'

describe('signing a command line in by a code', () => {
  let world: OAuthWorld
  beforeAll(async () => {
    world = await oauthWorld()
  })
  afterAll(() => world.close())

  async function begin(name = 'coinslot on laptop'): Promise<{ deviceCode: string; userCode: string }> {
    const { status, body } = await world.post('device_authorization', { client_id: CLIENT, device_name: name })
    expect([status, body]).toEqual([
      200,
      {
        device_code: expect.stringMatching(/^[\w-]{43}$/),
        user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
        verification_uri: `${world.address}/oauth/device`,
        verification_uri_complete: `${world.address}/oauth/device?user_code=${String(body['user_code'])}`,
        expires_in: 600,
        interval: 5,
      },
    ])
    return { deviceCode: String(body['device_code']), userCode: String(body['user_code']) }
  }
  const poll = (deviceCode: string, client = CLIENT) =>
    world.post('token', { grant_type: DEVICE_GRANT, client_id: client, device_code: deviceCode })
  const page = async (code: string, cookie: string) =>
    (await world.get(`/oauth/device?user_code=${code}`, cookie)).text()
  const decide = async (userCode: string, cookie: string, form: Record<string, string> = {}, headers = {}) => {
    const path = `/oauth/device?user_code=${userCode}`
    const response = await world.decide(path, cookie, { user_code: userCode, ...form }, headers)
    return { status: response.status, text: await response.text() }
  }
  const keysOf = async (cookie: string) => {
    const response = await fetch(`${world.address}/v1/keys`, { headers: { cookie } })
    return ((await response.json()) as { keys: { name: string; agentId: string | null }[] }).keys
  }

  test('the metadata names the endpoint and the grant', async () => {
    const { body } = await world.service.call('GET', '/.well-known/oauth-authorization-server')
    expect(body).toMatchObject({
      device_authorization_endpoint: `${world.address}/oauth/device_authorization`,
      grant_types_supported: expect.arrayContaining([DEVICE_GRANT]),
    })
  })

  test('waits, is slowed down, and gets a key once a person has entered the code', async () => {
    const { deviceCode, userCode } = await begin()
    expect(await poll(deviceCode)).toMatchObject({ status: 400, body: { error: 'authorization_pending' } })
    expect(await poll(deviceCode)).toMatchObject({ status: 400, body: { error: 'slow_down' } })
    // From now on it has to wait ten seconds.
    world.service.clock.forward(6_000)
    expect(await poll(deviceCode)).toMatchObject({ body: { error: 'slow_down' } })
    world.service.clock.forward(16_000)
    expect(await poll(deviceCode)).toMatchObject({ body: { error: 'authorization_pending' } })

    const visitor = await world.get(`/oauth/device?user_code=${userCode}`)
    const next = encodeURIComponent(`/oauth/device?user_code=${userCode}`)
    expect([visitor.status, visitor.headers.get('location')]).toEqual([303, `${world.address}/sign-in?next=${next}`])

    const cookie = await world.signUp()
    expect(await page('', cookie)).toContain('Enter the code')
    // As a person types it.
    const shown = await page(userCode.toLowerCase().replace('-', '%20'), cookie)
    expect(shown).toContain('coinslot on laptop')
    expect(shown).toContain(userCode)
    const token = await world.token(`/oauth/device?user_code=${userCode}`, cookie)
    expect(await decide(userCode, cookie)).toMatchObject({ status: 200, text: expect.stringContaining('Signed in') })

    // Who was approved need not wait for the pace.
    const { status, body } = await poll(deviceCode)
    expect([status, body]).toEqual([200, { access_token: expect.stringMatching(/^csk_test_/), token_type: 'Bearer' }])
    const me = await world.service.call('GET', '/v1/me', { key: String(body['access_token']) })
    expect(me.body).toMatchObject({ environment: 'sandbox', agentId: null })
    expect(await keysOf(cookie)).toEqual([expect.objectContaining({ name: 'coinslot on laptop', agentId: null })])

    expect(await poll(deviceCode)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await decide(userCode, cookie, { token })).text).toContain('wrong or has expired')
  })

  test('gives the key to one of several concurrent polls', async () => {
    const { deviceCode, userCode } = await begin('twice')
    const cookie = await world.signUp()
    await decide(userCode, cookie)
    const answers = await Promise.all(Array.from({ length: 5 }, () => poll(deviceCode)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    expect(await keysOf(cookie)).toHaveLength(1)
  })

  test('gives nothing for a refused or expired code', async () => {
    const cookie = await world.signUp()
    const refused = await begin()
    expect((await decide(refused.userCode, cookie, { decision: 'refuse' })).text).toContain('got no key')
    expect(await poll(refused.deviceCode)).toMatchObject({ status: 400, body: { error: 'access_denied' } })

    const late = await begin()
    const token = await world.token(`/oauth/device?user_code=${late.userCode}`, cookie)
    world.service.clock.forward(600_000)
    expect((await decide(late.userCode, cookie, { token })).text).toContain('wrong or has expired')
    expect(await poll(late.deviceCode)).toMatchObject({ status: 400, body: { error: 'expired_token' } })
    expect(await keysOf(cookie)).toEqual([])
  })

  test('an account without room for one more key gets none, with the reason', async () => {
    const cookie = await world.signUp()
    const { deviceCode, userCode } = await begin()
    const headers = { cookie, origin: world.address, 'content-type': 'application/json' }
    for (let count = 0; count < 50; count++) {
      const body = JSON.stringify({ name: `key ${String(count)}` })
      expect((await fetch(`${world.address}/v1/keys`, { method: 'POST', headers, body })).status).toBe(201)
    }
    await decide(userCode, cookie)
    expect(await poll(deviceCode)).toMatchObject({
      status: 400,
      body: { error: 'access_denied', error_description: expect.stringContaining('50') },
    })
  })

  test('serves the command line only, and only the codes that it got', async () => {
    const other = await world.post('device_authorization', { client_id: await world.register() })
    expect(other).toMatchObject({ status: 400, body: { error: 'invalid_client' } })
    expect(await world.post('device_authorization', {})).toMatchObject({ body: { error: 'invalid_request' } })
    expect(await poll('x'.repeat(43))).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const { deviceCode } = await begin()
    expect(await poll(deviceCode, await world.register())).toMatchObject({ body: { error: 'invalid_client' } })
  })

  test('the page is for a session and our own origin, shows names as text, and takes no production here', async () => {
    const cookie = await world.signUp()
    const { deviceCode, userCode } = await begin('<script>alert(1)</script>')
    expect(await page(userCode, cookie)).toContain('&#60;script&#62;')
    const response = await world.get('/oauth/device', cookie)
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect((await decide(userCode, cookie, {}, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await decide(userCode, '')).status).toBe(401)
    expect((await decide(userCode, cookie, { environment: 'production' })).status).toBe(400)
    expect(await poll(deviceCode)).toMatchObject({ body: { error: 'authorization_pending' } })
  })

  test('a form without its own token decides nothing, also where no header says where it comes from', async () => {
    const [cookie, stranger] = [await world.signUp(), await world.signUp()]
    const { deviceCode, userCode } = await begin()
    const other = await begin()
    const tokens = [
      '',
      await world.token(`/oauth/device?user_code=${userCode}`, stranger),
      await world.token(`/oauth/device?user_code=${other.userCode}`, cookie),
    ]
    for (const token of tokens) {
      const form = { decision: 'approve', environment: 'sandbox', user_code: userCode, token }
      const address = `${world.address}/oauth/device`
      const response = await fetch(address, { method: 'POST', headers: { cookie }, body: new URLSearchParams(form) })
      expect(response.status).toBe(403)
    }
    expect(await poll(deviceCode)).toMatchObject({ body: { error: 'authorization_pending' } })
  })

  test('a person who guesses codes is stopped, also before a right one', async () => {
    const cookie = await world.signUp()
    const { deviceCode, userCode } = await begin()
    for (let tried = 0; tried < 20; tried++) {
      expect(await page('BBBB-BBBB', cookie)).toContain('wrong or has expired')
    }
    expect((await decide(userCode, cookie)).status).toBe(429)
    expect((await world.get(`/oauth/device?user_code=${userCode}`, cookie)).status).toBe(429)
    expect(await poll(deviceCode)).toMatchObject({ body: { error: 'authorization_pending' } })
    // Another person is not stopped by it.
    expect((await decide(userCode, await world.signUp())).text).toContain('Signed in')
  })
})

describe('the rules of device codes', () => {
  const now = new Date('2026-01-31T12:00:00Z')
  const at = fc.integer({ min: -2_000_000, max: 2_000_000 }).map((ms) => new Date(now.getTime() + ms))
  const device = fc.record({
    userCode: fc.constant('BCDFGHJK'),
    name: fc.string(),
    intervalSeconds: fc.integer({ min: 5, max: 60 }),
    polledAt: fc.option(at),
    decision: fc.constantFrom('approved', 'refused', null),
    userId: fc.constant('usr_1'),
    environment: fc.constant('sandbox' as const),
    redeemedAt: fc.option(at),
    expiresAt: at,
  })

  test('a code is redeemed only if it was approved, in time and not before; the pace only ever slows', () => {
    fc.assert(
      fc.property(device, (one) => {
        const poll = pollOf(one, now)
        const isGood = one.decision === 'approved' && one.redeemedAt === null && one.expiresAt > now
        expect(poll.outcome === 'redeem').toBe(isGood)
        if (poll.outcome !== 'wait') return
        expect(poll.intervalSeconds).toBeGreaterThanOrEqual(one.intervalSeconds)
        expect(poll.intervalSeconds).toBeLessThanOrEqual(60)
      }),
    )
    expect(pollOf(null, now)).toMatchObject({ outcome: 'refuse', refusal: { code: 'invalid_grant' } })
  })

  test('a code is read as it is shown, in any case, and nothing else is', () => {
    const code = fc.string({ unit: fc.constantFrom(...USER_CODE_LETTERS.split('')), minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(code, (one) => {
        for (const typed of [one, shownUserCode(one), ` ${shownUserCode(one).toLowerCase()} `]) {
          expect(userCodeOf(typed)).toBe(one)
        }
        expect(userCodeOf(`${one}B`)).toBeNull()
      }),
    )
    for (const typed of ['', 'AEIOUAEI', 'BCDF-GHJ', 'BCDF_GHJK']) expect(userCodeOf(typed)).toBeNull()
  })
})

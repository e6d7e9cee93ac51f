import { createHmac } from 'node:crypto'
import { hashOf } from '../../service/oauth/rules/grants.ts'
import { createGrants } from '../../service/oauth/service/grants.ts'
import { createGrantStore } from '../../service/oauth/store.ts'
import { authorizePath, oauthWorld, REDIRECT, VERIFIER, type OAuthWorld } from './world.ts'

describe('the refusals of the authorization server', () => {
  let world: OAuthWorld
  let cookie: string
  let clientId: string

  beforeAll(async () => {
    world = await oauthWorld()
    cookie = await world.signUp()
    clientId = await world.register()
  })
  afterAll(async () => {
    // Nothing that was refused has cost anything.
    const own = { headers: { cookie, origin: world.address } }
    expect((await world.service.call('GET', '/v1/credits', own)).body.credits.balance).toBe(5)
    await world.close()
  })

  const path = (more: Record<string, string> = {}) => authorizePath(clientId, world.resource, more)
  const locationOf = (response: Response) => new URL(String(response.headers.get('location')))

  async function code(): Promise<string> {
    return locationOf(await world.decide(path(), cookie)).searchParams.get('code')!
  }
  const redeem = (more: Record<string, string>) =>
    world.post('token', {
      ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: REDIRECT },
      ...{ code_verifier: VERIFIER, resource: world.resource, ...more },
    })
  const refresh = (token: unknown, more: Record<string, string> = {}) =>
    world.post('token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: String(token), ...more })
  async function tokens(): Promise<{ access: string; refresh: string }> {
    const { status, body } = await redeem({ code: await code() })
    expect(status).toBe(200)
    return { access: String(body['access_token']), refresh: String(body['refresh_token']) }
  }
  const statusOf = async (token: string) => (await world.balance(token)).status

  async function keys(): Promise<number> {
    const own = { headers: { cookie, origin: world.address } }
    return Number((await world.service.call('GET', '/v1/keys', own)).body.total)
  }
  function grants() {
    const { database, identity, budgets, clock } = world.service
    return createGrants({
      ...{ store: createGrantStore(database.statements), identity, agents: budgets.agents },
      ...{ clock, resource: world.resource, secret: 'of the tests' },
    })
  }

  test.each([
    ['another verifier', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    ['another redirect', { redirect_uri: 'http://127.0.0.1:7778/callback' }, 'invalid_grant'],
    ['another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['another client', { client_id: 'other' }, 'invalid_grant'],
    ['an unknown client', { client_id: 'mcp_unknown' }, 'invalid_client'],
  ])('a code with %s', async (_, more, error) => {
    const own = 'client_id' in more && more.client_id === 'other' ? { client_id: await world.register() } : more
    expect(await redeem({ code: await code(), ...own })).toMatchObject({ status: 400, body: { error } })
  })

  test('a code after a minute, whose key is then revoked', async () => {
    const late = await code()
    world.service.clock.forward(61_000)
    expect(await redeem({ code: late })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await keys()).toBeGreaterThan(0)
    await grants().endExpired(world.service.clock.now())
    expect(await keys()).toBe(0)
  })

  test('a code for the second time; its tokens end', async () => {
    const once = await code()
    const { body } = await redeem({ code: once })
    expect(await statusOf(String(body['access_token']))).toBe(200)
    expect(await redeem({ code: once })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await statusOf(String(body['access_token']))).toBe(401)
    expect(await refresh(body['refresh_token'])).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('a code that two requests send at once gives tokens to one, and to none for long', async () => {
    const once = await code()
    const answers = await Promise.all([redeem({ code: once }), redeem({ code: once })])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    const won = answers.find(({ status }) => status === 200)!
    expect(await statusOf(String(won.body['access_token']))).toBe(401)
  })

  test('a refresh token for the second time, after a minute; all its tokens end', async () => {
    const first = await tokens()
    const { body } = await refresh(first.refresh)
    expect(await statusOf(String(body['access_token']))).toBe(200)
    world.service.clock.forward(61_000)
    expect(await refresh(first.refresh)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await statusOf(String(body['access_token']))).toBe(401)
    expect(await refresh(body['refresh_token'])).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('a refresh token that is older than the previous one; all its tokens end', async () => {
    const first = await tokens()
    const second = await refresh(first.refresh)
    world.service.clock.forward(61_000)
    const third = await refresh(second.body['refresh_token'])
    expect(third.status).toBe(200)
    expect(await refresh(first.refresh)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await statusOf(String(third.body['access_token']))).toBe(401)
  })

  test('a refresh token that was exchanged under another secret of the server; all its tokens end', async () => {
    const first = await tokens()
    const from = { clientId, resource: world.resource }
    const elsewhere = await grants().refresh(first.refresh, from)
    expect(await statusOf(elsewhere.access)).toBe(200)
    expect(await refresh(first.refresh)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await statusOf(elsewhere.access)).toBe(401)
  })

  test('none within a minute: the same refresh gives the same tokens again, to its own client', async () => {
    const first = await tokens()
    const [one, other] = await Promise.all([refresh(first.refresh), refresh(first.refresh)])
    expect([one.status, other.body]).toEqual([200, one.body])
    const foreign = await refresh(first.refresh, { client_id: await world.register() })
    expect(foreign).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    world.service.clock.forward(30_000)
    expect((await refresh(first.refresh)).body).toEqual(one.body)
    expect(await statusOf(String(one.body['access_token']))).toBe(200)
    expect((await refresh(one.body['refresh_token'])).status).toBe(200)
  })

  test('none where one of several refreshes at once has the new token already: all give the same tokens', async () => {
    const first = await tokens()
    const { body } = await refresh(first.refresh)
    expect((await refresh(body['refresh_token'])).body).toEqual(body)
    expect((await refresh(first.refresh)).body).toEqual(body)
    expect(await statusOf(String(body['access_token']))).toBe(200)
    world.service.clock.forward(61_000)
    const next = await refresh(body['refresh_token'])
    expect(next.body['refresh_token']).not.toBe(body['refresh_token'])
    expect(await statusOf(String(next.body['access_token']))).toBe(200)
  })

  test('none where a process of the version before is beside this one: each knows the tokens that the other gave', async () => {
    const { refresh: first } = await tokens()
    const from = { clientId, resource: world.resource }
    const given = await grants().refresh(first, from)
    const { statements } = world.service.testDatabase
    const family = first.split('.')[0]!
    const find = 'SELECT rotation_salt AS salt FROM oauth_grant WHERE family_hash = $1'
    const [row] = await statements.run<{ salt: Buffer }>(find, [hashOf(family)])
    const derived = (kind: string) =>
      createHmac('sha256', 'of the tests')
        .update(`oauth-${kind} ${row!.salt.toString('base64url')} ${first}`)
        .digest('base64url')
    expect(given.refresh).toBe(`${family}.${derived('refresh')}`)
    const before = { access: `cat_${derived('access')}`, refresh: given.refresh }
    const write = 'UPDATE oauth_grant SET access_hash = $2 WHERE family_hash = $1'
    await statements.run(write, [hashOf(family), hashOf(before.access)])
    expect(await grants().refresh(first, from)).toEqual(before)
    const next = await grants().refresh(before.refresh, from)
    expect(next.refresh).not.toBe(before.refresh)
    expect(await statusOf(next.access)).toBe(200)
  })

  test('a refresh for another resource, or by another client', async () => {
    const { refresh: token } = await tokens()
    expect(await refresh(token, { resource: 'https://other.example/mcp' })).toMatchObject({
      body: { error: 'invalid_target' },
    })
    expect(await refresh(token, { client_id: await world.register() })).toMatchObject({
      body: { error: 'invalid_grant' },
    })
    expect((await refresh(token)).status).toBe(200)
  })

  test('tokens that their client revoked', async () => {
    const { access, refresh: token } = await tokens()
    expect((await world.post('revoke', { client_id: await world.register(), token })).status).toBe(200)
    expect(await statusOf(access)).toBe(200)
    expect((await world.post('revoke', { client_id: clientId, token })).status).toBe(200)
    expect(await statusOf(access)).toBe(401)
    expect((await refresh(token)).status).toBe(400)
  })

  test('a token after its key was revoked', async () => {
    const { access, refresh: token } = await tokens()
    const own = { headers: { cookie, origin: world.address } }
    const { keys } = (await world.service.call('GET', '/v1/keys', own)).body
    await world.service.call('DELETE', `/v1/keys/${String(keys[0].id)}`, own)
    expect(await statusOf(access)).toBe(401)
    expect(await refresh(token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('a token for the other environment, at the API, and in an address', async () => {
    const { access } = await tokens()
    const elsewhere = await world.balance(access, { 'coinslot-environment': 'production' })
    expect([elsewhere.status, await elsewhere.json()]).toEqual([
      400,
      expect.objectContaining({ code: 'environment_mismatch' }),
    ])
    expect((await world.service.call('GET', '/v1/me', { key: access })).status).toBe(401)
    const inAddress = await world.service.call('POST', `/tools/mcp?key=${access}`, { body: {} })
    expect(inAddress.status).toBe(401)
  })

  test('a token that was for another address of the server', async () => {
    const { access } = await tokens()
    await world.service.database.statements.run(`UPDATE oauth_grant SET resource = 'https://old.example/mcp'`, [])
    expect(await statusOf(access)).toBe(401)
  })

  test('a connection beyond the keys that an account may have leaves no agent', async () => {
    const own = { headers: { cookie: await world.signUp(), origin: world.address } }
    for (let count = 0; count < 50; count++)
      await world.service.call('POST', '/v1/keys', { ...own, body: { name: 'k' } })
    const answer = await world.decide(path(), own.headers.cookie)
    expect([answer.status, await answer.text()]).toEqual([429, expect.stringContaining('API keys')])
    expect((await world.service.call('GET', '/v1/agents', own)).body.total).toBe(0)
  })

  test.each([
    ['a foreign resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['no resource', { resource: '' }, 'invalid_target'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a token at once', { response_type: 'token' }, 'unsupported_response_type'],
  ])('a request for %s: the browser stays until its user follows the link back', async (_, more, error) => {
    for (const session of [cookie, undefined]) {
      const answer = await world.get(path(more), session)
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
      expect(answer.headers.get('x-frame-options')).toBe('DENY')
      const text = await answer.text()
      for (const part of ['Claude', 'an app on this device (127.0.0.1)']) expect(text).toContain(part)
      const link = /<a href="([^"]+)"/.exec(text)![1]!.replaceAll('&#38;', '&')
      expect(link.startsWith(`${REDIRECT}?`)).toBe(true)
      expect(Object.fromEntries(new URL(link).searchParams)).toMatchObject({
        error,
        state: 'its own',
        iss: world.address,
      })
    }
    const decided = await world.decide(path(more), cookie)
    expect([decided.status, decided.headers.get('location')]).toEqual([400, null])
  })

  test.each([
    ['an address that is not registered', 'https://evil.example/callback'],
    ['the registered address and more', `${REDIRECT}/more`],
    ['a fragment', `${REDIRECT}#x`],
    ['a script', 'javascript:alert(1)'],
  ])('a redirect to %s, and the browser stays', async (_, redirect) => {
    const { status, headers } = await world.get(path({ redirect_uri: redirect }), cookie)
    expect([status, headers.get('location')]).toEqual([400, null])
  })

  test('another loopback port of a registered redirect is accepted', async () => {
    expect((await world.get(path({ redirect_uri: 'http://127.0.0.1:9/callback' }), cookie)).status).toBe(200)
  })

  test.each([
    ...['javascript:alert(1)', 'http://evil.example/callback', 'data:text/html,x', 'https://a.example/#x'],
    // Handled by an operating system, or too short for the name of a domain.
    ...['ms-settings:privacy', 'search-ms:query=x', 'intent://x', 'app://callback'],
  ])('the registration of %s', async (redirect) => {
    const { status, body } = await world.service.call('POST', '/oauth/register', {
      body: { redirect_uris: [redirect] },
    })
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
  })

  test.each(['com.example.app:/callback', 'cursor://anysphere.cursor-mcp/oauth/callback'])(
    'an app is registered with %s',
    async (redirect) => {
      expect(await world.register(redirect)).toMatch(/^mcp_/)
    },
  )

  test('a metadata document at a private address', async () => {
    // This server's workflows may be at private addresses; a client's document may not.
    const answer = await world.get(path({ client_id: 'https://10.0.0.1/client.json' }), cookie)
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    expect(await answer.text()).toContain('is not a public address')
  })

  describe('the consent page', () => {
    test('sends a visitor to the sign-in, and back afterwards', async () => {
      const to = locationOf(await world.get(path()))
      expect(to.pathname).toBe('/sign-in')
      expect(to.searchParams.get('next')).toBe(path())
    })

    test('names the program, cannot be framed, and fits a phone', async () => {
      const page = await world.get(path(), cookie)
      expect(page.status).toBe(200)
      expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(page.headers.get('x-frame-options')).toBe('DENY')
      const text = await page.text()
      for (const part of ['Claude', 'ada', '127.0.0.1', 'width=device-width', 'Sandbox', 'per day'])
        expect(text).toContain(part)
      expect(text).not.toContain('production')
    })

    test('a form of another site, or of no site', async () => {
      for (const origin of ['https://evil.example', 'null']) {
        const { status, headers } = await world.decide(path(), cookie, {}, { origin })
        expect([origin, status, headers.get('location')]).toEqual([origin, 403, null])
      }
    })

    test('a form without its own token, also where no header says where it comes from', async () => {
      const stranger = await world.signUp()
      const tokens = {
        none: '',
        another: 'x'.repeat(43),
        'of another session': await world.token(path(), stranger),
        'of another request': await world.token(path({ state: 'another' }), cookie),
      }
      for (const [name, token] of Object.entries(tokens)) {
        for (const decision of ['approve', 'refuse']) {
          const response = await fetch(new URL(path(), world.address), {
            method: 'POST',
            redirect: 'manual',
            headers: { cookie },
            body: new URLSearchParams({ decision, environment: 'sandbox', perDay: '1', token }),
          })
          expect([name, response.status, response.headers.get('location')]).toEqual([name, 403, null])
        }
      }
      expect(tokens['of another session']).not.toBe('')
    })

    test('a key cannot approve', async () => {
      const { key } = await world.caller()
      const { status } = await world.decide(path(), '', {}, { authorization: `Bearer ${key}` })
      expect(status).toBe(401)
    })

    test('the owner refuses', async () => {
      const back = locationOf(await world.decide(path(), cookie, { decision: 'refuse' }))
      expect(Object.fromEntries(back.searchParams)).toMatchObject({ error: 'access_denied', state: 'its own' })
      expect(back.searchParams.get('code')).toBeNull()
    })

    test.each([
      [{ perDay: 'much' }, 'perDay'],
      [{ perDay: '-1' }, 'perDay'],
      [{ environment: 'production' }, 'environment'],
      [{ decision: 'perhaps' }, 'decision'],
    ])('a wrong form %j', async (form, field) => {
      const answer = await world.decide(path(), cookie, form)
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(field)])
    })
  })
})

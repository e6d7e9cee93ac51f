import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { newId } from '../../service/kit/ids.ts'
import { identityRoutes } from '../../service/identity/http/account.ts'
import { signInHandler } from '../../service/identity/signin/handler.ts'
import type { AnyRoute } from '../../service/api/route.ts'
import type { Caller } from '../../service/kit/caller.ts'
import { callerOf, DASHBOARD, openWorld, newPerson, type World } from './world.ts'

describe('identity over HTTP', () => {
  let world: World
  let routes: AnyRoute[]
  beforeAll(async () => {
    world = await openWorld()
    routes = identityRoutes(world.identity, async () => ({ balance: 0 }))
  })
  afterAll(() => world.close())

  /** What the edge does with a declared route, without the network. */
  async function call(
    caller: Caller,
    method: string,
    path: string,
    input: { body?: unknown; query?: object; params?: object } = {},
  ) {
    const route = routes.find((each) => each.method === method && each.path === path)!
    return await route.handle({
      caller,
      body: route.body?.parse(input.body),
      rawBody: Buffer.alloc(0),
      upload: () => {
        throw new Error('no route of this capability takes a file')
      },
      query: route.query?.parse(input.query ?? {}),
      params: route.params?.parse(input.params ?? {}),
      operation: newId('op', world.clock.now()),
      address: '127.0.0.1',
      header: () => undefined,
      wantsPage: false,
      reader: { lang: undefined, accepted: undefined },
      gone: () => new AbortController().signal,
      keyHash: null,
      mayHaveBegun: false,
    })
  }

  async function ann(): Promise<Caller> {
    const { user } = await world.identity.signUp(newPerson('ann'))
    return {
      user,
      subject: 'ann',
      issuer: user.issuer,
      environment: 'sandbox',
      via: 'session',
      keyId: null,
      agentId: null,
    }
  }

  describe('the routes', () => {
    it('GET /me returns the user, the environment, the key and the wallet', async () => {
      const { secret } = await world.identity.keys.create(
        await ann(),
        { name: 'k', agentId: null, expiresAt: null },
        newId('op', world.clock.now()),
      )
      const caller = await callerOf(world, secret)
      expect(await call(caller, 'get', '/me')).toEqual({
        status: 200,
        body: {
          userId: 'ann',
          environment: 'sandbox',
          keyId: caller.keyId,
          agentId: null,
          handle: null,
          wallet: { balance: 0 },
        },
      })
    })

    it('POST /me signs a token’s bearer up: 201, then 200', async () => {
      const person = newPerson('newcomer')
      const caller: Caller = {
        ...(await ann()),
        user: null,
        subject: 'newcomer',
        issuer: person.issuer,
        via: 'token',
        person,
      }
      expect((await call(caller, 'get', '/me')).body).toMatchObject({ userId: 'newcomer', wallet: null })
      const first = await call(caller, 'post', '/me')
      expect(first).toMatchObject({ status: 201, body: { userId: 'newcomer', wallet: { balance: 0 } } })
      expect((await call(caller, 'post', '/me')).status).toBe(200)
      expect((await call(await ann(), 'post', '/me')).status).toBe(200)
    })

    it('POST /keys shows the secret once: a replay has the key without it', async () => {
      const expiresAt = '2099-01-31T12:00:00+02:00'
      const answer = await call(await ann(), 'post', '/keys', { body: { name: ' CI ', expiresAt } })
      const shown = answer.body as { key: Record<string, unknown>; secret: string }
      expect(answer.status).toBe(201)
      expect(Object.keys(shown.key).sort()).toEqual(
        ['agentId', 'createdAt', 'environment', 'expiresAt', 'id', 'lastFour', 'lastUsedAt', 'name', 'prefix'].sort(),
      )
      expect(shown.key).toMatchObject({
        name: 'CI',
        agentId: null,
        lastUsedAt: null,
        expiresAt: '2099-01-31T10:00:00.000Z',
      })
      expect(shown.secret).toMatch(/^csk_test_/)
      expect(answer.replayBody).toEqual({ key: shown.key, secret: null })
      const listed = await call(await ann(), 'get', '/keys', { query: { limit: '1' } })
      expect(listed.body).toMatchObject({ keys: [shown.key], limit: 1, offset: 0 })
      expect(JSON.stringify(listed.body)).not.toContain(shown.secret)
    })

    it.each([
      [{}],
      [{ name: '' }],
      [{ name: '   ' }],
      [{ name: 'x'.repeat(101) }],
      [{ name: 'two\nlines' }],
      [{ name: 'nul\u0000' }],
      [{ name: 'k', expiresAt: 'tomorrow' }],
      [{ name: 'k', expiresAt: 5 }],
      [{ name: 'k', surprise: true }],
    ])('POST /keys refuses %j', (body) => {
      const route = routes.find((each) => each.method === 'post' && each.path === '/keys')!
      expect(route.body?.safeParse(body).success).toBe(false)
    })

    it('DELETE /keys/:id is 204, then there is nothing', async () => {
      const created = await call(await ann(), 'post', '/keys', { body: { name: 'short-lived' } })
      const { id } = (created.body as { key: { id: string } }).key
      expect(await call(await ann(), 'delete', '/keys/:id', { params: { id } })).toEqual({
        status: 204,
        body: undefined,
      })
      await expect(call(await ann(), 'delete', '/keys/:id', { params: { id } })).rejects.toMatchObject({
        kind: 'missing',
      })
    })

    it('the signing secret is shown, and rotated with the old one’s last hour', async () => {
      const before = (await call(await ann(), 'get', '/signing-secret')).body as {
        signingSecret: Record<string, unknown>
      }
      expect(before.signingSecret).toMatchObject({
        secret: expect.stringMatching(/^whsec_/) as string,
        previousExpiresAt: null,
      })
      const answer = await call(await ann(), 'post', '/signing-secret')
      const after = answer.body as { signingSecret: Record<string, unknown> }
      expect(after.signingSecret['secret']).not.toBe(before.signingSecret['secret'])
      expect(after.signingSecret['previousExpiresAt']).toMatch(/Z$/)
      expect(answer.replayBody).toEqual({ signingSecret: { ...after.signingSecret, secret: null } })
    })

    it('keys and secrets are a person’s, not an agent’s', () => {
      const auths = routes.filter(({ path }) => path !== '/me').map(({ auth }) => auth)
      expect(new Set(auths)).toEqual(new Set(['person']))
    })
  })

  describe('the sign-in over HTTP', () => {
    let server: Server
    let base: string
    beforeAll(async () => {
      const app = express()
      app.use((_request, response, next) => {
        response.set('x-request-id', 'req_test')
        next()
      })
      app.use(
        '/auth',
        signInHandler(world.identity, {
          dashboard: DASHBOARD,
          countTry: () => Promise.resolve(),
          assertAccount: () => Promise.resolve(),
        }),
      )
      app.use(((error: { kind?: string; code?: string }, _request, response, _next) => {
        response.status(error.kind === 'too-large' ? 413 : 500).json({ code: error.code })
      }) as express.ErrorRequestHandler)
      server = createServer(app)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      base = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/auth`
    })
    afterAll(() => new Promise((resolve) => server.close(resolve)))

    const send = (path: string, body: string, headers: Record<string, string> = {}) =>
      fetch(base + path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })

    it('signs up, in, shows the session by cookie and signs out', async () => {
      const body = JSON.stringify({ email: 'http@example.com', password: 'correct horse battery', name: 'H' })
      expect((await send('/sign-up/email', body)).status).toBe(200)
      const signedIn = await send('/sign-in/email', body)
      expect(signedIn.headers.get('cache-control')).toBe('no-store')
      const cookie = signedIn.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ')
      const shown = await fetch(`${base}/get-session`, { headers: { cookie } })
      expect(await shown.json()).toMatchObject({ user: { email: 'http@example.com' } })
      const out = await send('/sign-out', '{}', { cookie, origin: DASHBOARD })
      expect(out.status).toBe(200)
      expect(await (await fetch(`${base}/get-session`, { headers: { cookie } })).json()).toBeNull()
    })

    it("refuses in the API's error format", async () => {
      const answer = await send('/sign-in/email', '{"email":"http@example.com","password":"wrong one"}')
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({
        error: expect.any(String) as string,
        code: 'invalid_email_or_password',
        requestId: 'req_test',
      })
      expect((await fetch(`${base}/ok`)).status).toBe(404)
      expect((await fetch(base)).status).toBe(404)
    })

    it('reads no more than it needs', async () => {
      const answer = await send(
        '/sign-in/email',
        JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(20_000) }),
      )
      expect(answer.status).toBe(413)
      expect(await answer.json()).toEqual({ code: 'body_too_large' })
    })
  })
})

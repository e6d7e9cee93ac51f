import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { Socket } from 'node:net'
import express from 'express'
import { outboundClient, type Outbound } from '../../service/outbound/client.ts'
import { usdc } from '../../service/kit/money.ts'
import { clientEndpoints } from '../../service/oauth/http/endpoints.ts'
import { createClients } from '../../service/oauth/service/clients.ts'
import { createGrants } from '../../service/oauth/service/grants.ts'
import { createGrantStore } from '../../service/oauth/store.ts'
import { answerOf } from '../harness/service.ts'
import { TestClock } from '../harness/clock.ts'
import { httpServer, listening, type Listening } from '../outbound/servers.ts'
import { challengeOf, oauthWorld, VERIFIER } from './world.ts'

describe('metadata documents of clients', () => {
  let server: Listening
  let certificate: string
  let outbound: Outbound
  let document: string
  let status = 200
  let requests = 0
  const clock = new TestClock()

  beforeAll(async () => {
    const fixture = (name: string) => readFile(new URL(`../outbound/fixtures/${name}.pem`, import.meta.url), 'utf8')
    certificate = await fixture('certificate')
    server = await listening(
      createServer({ cert: certificate, key: await fixture('key') }, (_request, response) => {
        requests++
        response.writeHead(status, status === 302 ? { location: '/elsewhere.json' } : {}).end(document)
      }),
    )
    outbound = guarded(true)
  })
  afterAll(async () => {
    await outbound.close()
    await server.close()
  })
  beforeEach(() => {
    ;[status, requests] = [200, 0]
  })

  function guarded(allowPrivate: boolean): Outbound {
    return outboundClient({
      policy: { allowPrivate, allowHosts: [] },
      resolve: () => Promise.resolve(['127.0.0.1']),
      authorities: certificate,
    })
  }
  const clients = (by = outbound) =>
    createClients({
      store: {
        add: () => Promise.resolve(),
        find: () => Promise.resolve(null),
      },
      clock,
      outbound: by,
    })
  const address = () => `https://shop.test:${String(server.port)}/client.json`
  const valid = () => ({
    client_id: address(),
    client_name: 'Shop',
    redirect_uris: ['https://shop.test/callback'],
    token_endpoint_auth_method: 'none',
  })

  test('describe their client, and are fetched again after five minutes', async () => {
    document = JSON.stringify(valid())
    const known = clients()
    const expected = { id: address(), name: 'Shop', redirectUris: ['https://shop.test/callback'] }
    expect(await known.find(address())).toEqual(expected)
    expect(await known.find(address())).toEqual(expected)
    expect(requests).toBe(1)
    clock.forward(301_000)
    await known.find(address())
    expect(requests).toBe(2)
  })

  test.each([
    ['names another id', () => ({ ...valid(), client_id: 'https://shop.test/other.json' }), 'client_id'],
    ['is too large', () => ({ ...valid(), filling: 'x'.repeat(20_000) }), '16384'],
    ['has no redirect', () => ({ ...valid(), redirect_uris: [] }), 'redirect_uris'],
    ['wants to keep a secret', () => ({ ...valid(), token_endpoint_auth_method: 'private_key_jwt' }), 'auth_method'],
    ['hides behind its name', () => ({ ...valid(), client_name: 'Sh\u202eop' }), 'client_name'],
  ])('a document that %s', async (_, make, word) => {
    document = JSON.stringify(make())
    await expect(clients().find(address())).rejects.toMatchObject({
      code: 'invalid_client',
      message: expect.stringContaining(word),
    })
  })

  test.each([
    [302, 'invalid_client'],
    [404, 'invalid_client'],
    [500, 'temporarily_unavailable'],
  ])('an answer of %d is %s', async (answered, code) => {
    ;[document, status] = [JSON.stringify(valid()), answered]
    await expect(clients().find(address())).rejects.toMatchObject({ code })
    expect(requests).toBe(1)
  })

  test('a server that cannot be reached is temporarily unavailable', async () => {
    const closed = await listening(createServer())
    await closed.close()
    const away = `https://shop.test:${String(closed.port)}/client.json`
    await expect(clients().find(away)).rejects.toMatchObject({
      ...{ kind: 'unavailable', code: 'temporarily_unavailable' },
      message: expect.stringContaining('Try again later.'),
    })
  })

  test('their client refreshes and revokes its tokens while the server of its document fails', async () => {
    document = JSON.stringify(valid())
    const world = await oauthWorld()
    const { database, identity, budgets } = world.service
    const grants = createGrants({
      ...{ store: createGrantStore(database.statements), identity, agents: budgets.agents },
      ...{ clock, resource: world.resource, secret: 'of the tests' },
    })
    const known = clients()
    const silent = () => undefined
    const app = express()
    const log = { info: silent, warn: silent, error: silent }
    for (const [path, endpoint] of Object.entries(clientEndpoints({ clients: known, grants, log }))) {
      app.use(path, endpoint)
    }
    const endpoints = await httpServer(app)
    const post = async (path: string, form: Record<string, string>) =>
      await answerOf(
        await fetch(`http://127.0.0.1:${String(endpoints.port)}${path}`, {
          method: 'POST',
          body: new URLSearchParams({ client_id: address(), ...form }),
        }),
      )
    try {
      const { caller } = await world.service.person()
      const client = await known.find(address())
      const [redirectUri = ''] = client.redirectUris
      const terms = { client, redirectUri, challenge: challengeOf(VERIFIER), resource: world.resource }
      const code = await grants.approve(caller, terms, usdc(1_000_000n))
      const proof = { code, redirect_uri: redirectUri, code_verifier: VERIFIER }
      const first = await post('/token', { grant_type: 'authorization_code', ...proof })
      expect([first.status, requests]).toEqual([200, 1])

      status = 500
      clock.forward(301_000)
      const refreshToken = String(first.body.refresh_token)
      const second = await post('/token', { grant_type: 'refresh_token', refresh_token: refreshToken })
      expect([second.status, second.body.error]).toEqual([200, undefined])
      const token = String(second.body.access_token)
      expect((await grants.identify(token, undefined)).user?.id).toBe(caller.user.id)
      expect((await post('/revoke', { token })).status).toBe(200)
      await expect(grants.identify(token, undefined)).rejects.toMatchObject({ code: 'unauthenticated' })
    } finally {
      await endpoints.close()
      await world.close()
    }
  })

  test('a private address is refused before any request', async () => {
    document = JSON.stringify(valid())
    const strict = guarded(false)
    await expect(clients(strict).find(address())).rejects.toMatchObject({ code: 'invalid_client' })
    expect(requests).toBe(0)
    await strict.close()
  })

  test.each([
    'http://shop.test/client.json',
    'https://shop.test/',
    'https://a@shop.test/c',
    'https://shop.test/a/../c',
  ])('the id %s is no address of a document', async (id) => {
    await expect(clients().find(id)).rejects.toMatchObject({ code: 'invalid_client' })
    expect(requests).toBe(0)
  })

  test('are asked for by nobody on a private host, even where accounts may have it called', async () => {
    let connections = 0
    const inside = await listening(
      createServer(() => undefined).on('connection', (socket: Socket) => {
        connections++
        socket.destroy()
      }),
    )
    const host = `127.0.0.1:${String(inside.port)}`
    const world = await oauthWorld()
    try {
      const query = new URLSearchParams({
        client_id: `https://${host}/client.json`,
        redirect_uri: 'https://shop.test/',
      })
      const answer = await world.get(`/oauth/authorize?${query.toString()}`)
      expect(await answer.text()).toContain('it is not a public address')
      expect([answer.status, connections]).toEqual([400, 0])
    } finally {
      await world.close()
      await inside.close()
    }
  })
})

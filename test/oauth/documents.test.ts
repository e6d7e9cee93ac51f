import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { Socket } from 'node:net'
import { outboundClient, type Outbound } from '../../service/outbound/client.ts'
import { createClients } from '../../service/oauth/service/clients.ts'
import { TestClock } from '../harness/clock.ts'
import { listening, type Listening } from '../outbound/servers.ts'
import { oauthWorld } from './world.ts'

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
        keep: () => Promise.resolve(),
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

  test.each([302, 404, 500])('an answer of %d', async (answered) => {
    ;[document, status] = [JSON.stringify(valid()), answered]
    await expect(clients().find(address())).rejects.toMatchObject({ code: 'invalid_client' })
    expect(requests).toBe(1)
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

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { outboundClient } from '../../service/outbound/client.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { agentBody, promptBody, toolBody } from '../marketplace/bodies.ts'

/**
 * Addresses with which an attacker tries to make this server call its neighbours; each leads to this machine, or to a
 * cloud's keys.
 */
const INSIDE: Readonly<Record<string, (port: number) => string>> = {
  loopback: (port) => `http://127.0.0.1:${String(port)}/x`,
  'a name for it': (port) => `http://localhost:${String(port)}/x`,
  'another loopback': (port) => `http://127.8.9.10:${String(port)}/x`,
  'one number': (port) => `http://2130706433:${String(port)}/x`,
  hexadecimal: (port) => `http://0x7f000001:${String(port)}/x`,
  octal: (port) => `http://0177.0.0.1:${String(port)}/x`,
  'fewer dots': (port) => `http://127.1:${String(port)}/x`,
  nowhere: (port) => `http://0.0.0.0:${String(port)}/x`,
  IPv6: (port) => `http://[::1]:${String(port)}/x`,
  'IPv4 inside IPv6': (port) => `http://[::ffff:127.0.0.1]:${String(port)}/x`,
  'the same in hexadecimal': (port) => `http://[::ffff:7f00:1]:${String(port)}/x`,
  NAT64: (port) => `http://[64:ff9b::7f00:1]:${String(port)}/x`,
  'wide digits': (port) => `http://１２７.０.０.１:${String(port)}/x`,
  metadata: () => 'http://169.254.169.254/latest/meta-data/',
  'metadata by IPv6': () => 'http://[fd00:ec2::254]/latest/meta-data/',
  'a private network': () => 'http://10.0.0.1/x',
  'a carrier’s network': () => 'http://100.64.0.1/x',
  'another scheme': () => 'file:///etc/passwd',
  'with credentials': (port) => `http://user:secret@127.0.0.1:${String(port)}/x`,
}

/**
 * Every place where a user may enter an address that this server will call: the request, and the field that is refused.
 */
interface Place {
  method?: string
  path: string
  field: string
  body(url: string): Record<string, unknown>
}

const SALE = { product: { name: 'Own' }, price: 1, network: 'base-sepolia', recipient: `0x${'11'.repeat(20)}` }
const PLACES: Readonly<Record<string, Place>> = {
  'a checkout’s callback': {
    ...{ path: '/v1/checkouts', field: 'callbackUrl' },
    body: (callbackUrl) => ({ ...SALE, callbackUrl }),
  },
  'a receiver of events': {
    ...{ path: '/v1/webhook-endpoints', field: 'url' },
    body: (url) => ({ url, events: ['run.completed'] }),
  },
  'a paywall’s upstream': {
    ...{ path: '/v1/paywalls', field: 'upstreamUrl' },
    body: (upstreamUrl) => ({
      ...{ slug: 'inside', name: 'Inside', upstreamUrl, network: 'base-sepolia' },
      routes: [{ method: 'GET', path: '/*', pricing: { model: 'free' } }],
    }),
  },
  'an agent’s webhook': {
    ...{ path: '/v1/rda', field: 'agentConfig.webhookUrl' },
    body: (webhookUrl) => agentBody({ agentConfig: { webhookUrl, timeoutSeconds: 5 } }),
  },
  'an agent’s poll address': {
    ...{ path: '/v1/rda', field: 'agentConfig.pollUrl' },
    body: (pollUrl) =>
      agentBody({ agentConfig: { webhookUrl: 'https://93.184.216.34/x', pollUrl, timeoutSeconds: 5 } }),
  },
  'a tool’s endpoint': {
    ...{ path: '/v1/rda', field: 'toolConfig.apiEndpoint' },
    body: (apiEndpoint) => toolBody({ toolConfig: { apiEndpoint, apiMethod: 'GET', authType: 'none' } }),
  },
  'a run’s webhook': {
    ...{ path: '/v1/run', field: 'webhookUrl' },
    body: (webhookUrl) => ({ rdaSlug: 'inside-prompt', inputs: { article: 'x' }, webhookUrl }),
  },
  // It is no field of a form, so the error names the address as called.
  'a paid address': { path: '/v1/pay', field: 'url|called', body: (url) => ({ url, maxAmount: 1 }) },
  'an OpenAPI document': {
    ...{ path: '/trpc/tools.import', field: 'address' },
    body: (address) => ({ kind: 'openapi', slug: 'inside', address }),
  },
  'an MCP server': {
    ...{ path: '/trpc/tools.import', field: 'address' },
    body: (address) => ({ kind: 'mcp', slug: 'inside', address }),
  },
}

describe('addresses that users give', () => {
  let service: TestService
  let person: TestPerson
  let neighbour: Server
  let requests = 0
  let port = 0

  beforeAll(async () => {
    neighbour = createServer((_request, response) => {
      requests++
      response.end('secret')
    })
    neighbour.on('connection', () => requests++)
    // On every address of this machine, so that each way of writing one would arrive.
    await new Promise<void>((resolve) => neighbour.listen(0, '::', resolve))
    port = (neighbour.address() as AddressInfo).port
    service = await testService({
      ALLOW_PRIVATE_CALLBACKS: 'false',
      RATE_API_PER_MINUTE: '0',
      TOOL_IMPORTS_PER_HOUR: '100000',
    })
    person = await service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
    await person.call('POST', '/v1/rda', { body: promptBody({ slug: 'inside-prompt' }) })
  })
  afterAll(async () => {
    await service.close()
    await new Promise((resolve) => neighbour.close(resolve))
  })

  test.each(Object.entries(PLACES))('%s leads nowhere inside', async (_, { method = 'POST', path, field, body }) => {
    const wrong: unknown[] = []
    for (const [name, addressOf] of Object.entries(INSIDE)) {
      const { status, text } = await person.call(method, path, { body: body(addressOf(port)) })
      // The error must name the field, and reveal nothing about the address, not even whether a server is there.
      if (status !== 400 || !new RegExp(field).test(text) || /secret|ECONN|refused the connection/.test(text))
        wrong.push([name, status, text])
    }
    expect(wrong).toEqual([])
    expect(requests).toBe(0)
  })

  test('are not requested through the environment’s proxies', async () => {
    const names = [
      'HTTP_PROXY',
      'http_proxy',
      'HTTPS_PROXY',
      'https_proxy',
      'ALL_PROXY',
      'all_proxy',
      'NODE_USE_ENV_PROXY',
    ]
    const before = names.map((name) => process.env[name])
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${String(port)}`
    try {
      const client = outboundClient({
        policy: { allowPrivate: false, allowHosts: [] },
        resolve: () => Promise.resolve(['192.0.2.1']),
        connectMs: 100,
      })
      await expect(client.send({ url: 'http://shop.test/' })).rejects.toMatchObject({
        code: expect.stringMatching(/^address_/),
      })
      await client.close()
      expect(requests).toBe(0)
    } finally {
      for (const [place, name] of names.entries()) {
        if (before[place] === undefined) Reflect.deleteProperty(process.env, name)
        else process.env[name] = before[place]
      }
    }
  })
})

import fc from 'fast-check'
import { entryOf, queriesOf, wordsOf } from '../../service/discovery/rules/entry.ts'
import type { Entry } from '../../service/discovery/model.ts'
import { readJson } from '../../service/kit/json.ts'
import { bazaarOf, type SoldResource } from '../../service/x402/bazaar.ts'
import { toRequest } from '../../service/x402/payload.ts'
import { paymentRequest } from '../../service/x402/schema.ts'
import { V2 } from '../facilitator/bodies.ts'

const SEED = Number(process.env['SEED'] ?? 20_261_123)
const payment = toRequest(paymentRequest.parse(V2))
const bazaar = bazaarOf({
  input: { type: 'http', method: 'POST', bodyType: 'json', bodyFields: { city: { type: 'string', required: true } } },
})

function soldResource(more: { resource?: object; bazaar?: object | null; extensions?: object } = {}): SoldResource {
  const extension = more.bazaar === undefined ? bazaar : more.bazaar
  return {
    payment,
    timeoutSeconds: 60,
    resource: { url: 'https://weather.example/v1/now?city=Berlin#top', description: 'The weather', ...more.resource },
    extensions: { ...(extension === null ? {} : { bazaar: extension }), ...more.extensions },
  }
}

function entry(...args: Parameters<typeof soldResource>): Entry {
  const found = entryOf(soldResource(...args))
  if ('rejected' in found) throw new Error(found.rejected)
  return found
}

function refused(...args: Parameters<typeof soldResource>): string | null {
  const found = entryOf(soldResource(...args))
  return 'rejected' in found ? found.rejected : null
}

describe('the listed entry of a payment', () => {
  test('is the resource without its query, with the terms that were paid', () => {
    expect(entry()).toEqual({
      resource: 'https://weather.example/v1/now',
      tool: '',
      network: 'base-sepolia',
      scheme: 'exact',
      payTo: payment.required.payTo,
      type: 'http',
      x402Version: 2,
      accepts: [
        {
          scheme: 'exact',
          network: 'eip155:84532',
          amount: '1000000',
          asset: payment.required.asset,
          payTo: payment.required.payTo,
          maxTimeoutSeconds: 60,
          extra: { name: 'USDC', version: '2' },
        },
      ],
      description: 'The weather',
      mimeType: null,
      serviceName: null,
      tags: [],
      iconUrl: null,
      extensions: { bazaar },
      extensionKeys: ['bazaar'],
    })
  })

  test('names a route by its template, and a tool by its name', () => {
    expect(entry({ bazaar: { ...bazaar, routeTemplate: '/v1/:city' } }).resource).toBe(
      'https://weather.example/v1/:city',
    )
    const input = { type: 'mcp', toolName: 'forecast', inputSchema: { type: 'object' } }
    expect(entry({ bazaar: { info: { input }, schema: {} } })).toMatchObject({
      resource: 'https://weather.example/v1/now',
      tool: 'forecast',
      type: 'mcp',
    })
  })

  test.each(['//evil.example', 'x', '/%2e%2e/a', '/%252e%252e/a', '/a/../b', '/%zz', '/a b', `/${'%25'.repeat(9)}`, 5])(
    'uses the path where the template is %s',
    (routeTemplate) => {
      const { resource } = entry({ bazaar: { ...bazaar, routeTemplate } })
      expect(new URL(resource).host).toBe('weather.example')
      if (routeTemplate !== '//evil.example') expect(resource).toBe('https://weather.example/v1/now')
    },
  )

  test('leaves out a bad name, bad tags and a bad icon', () => {
    const name = {
      serviceName: 'Wetter für alle',
      tags: ['a', 'A', 'ü', '', 5, 'b', 'c', 'd', 'e', 'f', 'x'.repeat(33)],
    }
    expect(entry({ resource: { ...name, iconUrl: 'https://127.0.0.1/i.png' } })).toMatchObject({
      serviceName: null,
      tags: ['a', 'b', 'c', 'd', 'e'],
      iconUrl: null,
    })
    const good = { serviceName: 'Weather', tags: ['weather'], iconUrl: 'https://weather.example/i.png' }
    expect(entry({ resource: good })).toMatchObject(good)
    for (const iconUrl of [
      'javascript:alert(1)',
      'https://localhost/',
      'https://2130706433/',
      'https://a@b.example/',
    ]) {
      expect(entry({ resource: { iconUrl } }).iconUrl).toBeNull()
    }
  })

  test('keeps texts short and free of control characters', () => {
    const { description } = entry({ resource: { description: `a\u0000b\u001b[31m ${'x'.repeat(900)} <b>y</b>` } })
    expect(description).not.toMatch(/\p{Cc}/u)
    expect(description?.length).toBeLessThanOrEqual(500)
  })

  test.each<[string, Parameters<typeof soldResource>[0], string]>([
    ['no extension', { bazaar: null }, 'no_bazaar_extension: the payment carries no extensions.bazaar'],
    ['no URL', { resource: { url: 'weather' } }, 'bad_resource: resource.url must be a URL of at most 2048 characters'],
    ['a long URL', { resource: { url: `https://a.example/${'x'.repeat(3_000)}` } }, 'bad_resource'],
    [
      'plain HTTP',
      { resource: { url: 'http://weather.example/' } },
      'unreachable_resource: resource.url must be https',
    ],
    ['a private address', { resource: { url: 'https://192.168.0.1/' } }, 'unreachable_resource'],
    ['an address in disguise', { resource: { url: 'https://0x0a.1/' } }, 'unreachable_resource'],
    ['an address of cloud metadata', { resource: { url: 'https://169.254.169.254/' } }, 'unreachable_resource'],
    ['an address of version 6', { resource: { url: 'https://[fd00::1]/' } }, 'unreachable_resource'],
    ['a name of one’s own network', { resource: { url: 'https://printer.local./' } }, 'unreachable_resource'],
    ['a bare name', { resource: { url: 'https://intranet/' } }, 'unreachable_resource'],
    ['a password', { resource: { url: 'https://a:b@weather.example/' } }, 'unreachable_resource'],
    ['another scheme', { resource: { url: 'mcp://tool/forecast' } }, 'unreachable_resource'],
    [
      'an example that does not fit',
      { bazaar: { ...bazaar, info: { input: { type: 'http' } } } },
      'bad_bazaar_extension: info/input/method is missing',
    ],
    ['no input', { bazaar: { info: {}, schema: {} } }, 'bad_bazaar_extension'],
    ['no schema', { bazaar: { info: { input: { type: 'http' } } } }, 'bad_bazaar_extension'],
    ['an unknown type', { bazaar: { info: { input: { type: 'ftp' } }, schema: {} } }, 'bad_bazaar_extension'],
    [
      'an unknown method',
      { bazaar: { info: { input: { type: 'http', method: 'TRACE' } }, schema: {} } },
      'bad_bazaar_extension',
    ],
    [
      'a body with a GET',
      { bazaar: { info: { input: { type: 'http', method: 'GET', bodyType: 'json' } }, schema: {} } },
      'bad_bazaar_extension',
    ],
    [
      'a tool without a schema',
      { bazaar: { info: { input: { type: 'mcp', toolName: 'a' } }, schema: {} } },
      'bad_bazaar_extension',
    ],
    [
      'a reference to elsewhere',
      { bazaar: { ...bazaar, schema: { $ref: 'https://evil.example/' } } },
      'bad_bazaar_extension: extensions.bazaar has an external $ref',
    ],
    [
      'much text',
      { bazaar: { ...bazaar, more: 'x'.repeat(20_000) } },
      'bad_bazaar_extension: extensions.bazaar is larger than 16384 bytes',
    ],
  ])('refuses %s, and says so', (_name, changes, reason) => {
    expect(refused(changes)).toContain(reason)
  })

  test('may be at localhost with test money, and not with real money', () => {
    const resource = { url: 'http://localhost:4020/tools/pay/x' }
    expect(entry({ resource }).resource).toBe('http://localhost:4020/tools/pay/x')
    const network = payment.network
    if (network === null) throw new Error('no network')
    const live = { ...soldResource({ resource }), payment: { ...payment, network: { ...network, live: true } } }
    expect(entryOf(live)).toEqual({ rejected: 'unreachable_resource: resource.url must be https' })
  })

  test('is decided for anything at all', () => {
    const any = fc.jsonValue({ maxDepth: 5 })
    fc.assert(
      fc.property(any, any, any, (resource, extension, schema) => {
        const payment = { ...soldResource(), resource, extensions: { bazaar: extension } }
        const inside = { ...soldResource(), extensions: { bazaar: { ...bazaar, schema, more: extension } } }
        for (const one of [payment, inside]) expect(entryOf(one)).toEqual(expect.any(Object))
      }),
      { seed: SEED, numRuns: 300 },
    )
    const digits = readJson(`{"type":"http","method":"POST","bodyType":"json","body":{"city":${'7'.repeat(1_000)}}}`)
    expect(refused({ bazaar: { ...bazaar, info: { input: digits } } })).toContain('info/input/body/city must be string')
  })
})

describe('the terms of a search', () => {
  test('contain words only, for any text', () => {
    expect(queriesOf("weather & !'now':* | (x")).toEqual({ all: 'weather & now & x', any: 'weather | now | x' })
    expect(queriesOf('page views')).toEqual({ all: 'page & views:*', any: 'page | views:*' })
    expect(queriesOf(' &|!() ')).toBeNull()
    expect(queriesOf('x '.repeat(1_000))?.all.split(' & ')).toHaveLength(16)
  })

  test('come from the name, the tags, the description, the address and the fields', () => {
    expect(wordsOf(entry({ resource: { serviceName: 'Acme', tags: ['rain'] } }))).toEqual({
      name: 'Acme ',
      tags: 'rain',
      description: 'The weather ',
      rest: 'https weather example v1 now city',
    })
  })
})

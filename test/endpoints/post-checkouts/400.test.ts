import { LIVE, openWorld, type World } from '../../checkouts/world.ts'

type Body = Record<string, unknown>

describe('POST /v1/checkouts: 400, naming the field, and nothing is made', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ works: false })
  })
  afterAll(() => world.close())

  const field = (more: Body) => ({ fields: [{ name: 'a', type: 'text', ...more }] })

  it.each<[string, Body, string, string?]>([
    ['an unknown field', { colour: 'red' }, 'colour', 'is not known'],
    ['no callback', { callbackUrl: undefined }, 'callbackUrl', 'is required'],
    ['a callback that is no address', { callbackUrl: 'here' }, 'callbackUrl'],
    ['a callback of another scheme', { callbackUrl: 'file:///etc/passwd' }, 'callbackUrl'],
    ['a callback with credentials', { callbackUrl: 'https://me:secret@example.com/' }, 'callbackUrl'],
    ['a callback to the metadata of a cloud', { callbackUrl: 'http://169.254.169.254/latest' }, 'callbackUrl'],
    ['no product', { product: undefined }, 'product', 'is required'],
    ['a product without a name', { product: {} }, 'product.name', 'is required'],
    ['an empty name', { product: { name: '' } }, 'product.name', 'must not be empty'],
    ['a name that is too long', { product: { name: 'x'.repeat(201) } }, 'product.name'],
    ['a name that no database keeps', { product: { name: 'a\0b' } }, 'product.name'],
    ['a name of half a character', { product: { name: 'a\ud800b' } }, 'product.name'],
    ['a description of another type', { product: { name: 'x', description: 5 } }, 'product.description'],
    ['a price of 0', { price: 0 }, 'price', 'must be greater than 0'],
    ['a negative price', { price: -1 }, 'price'],
    ['a price of 7 decimals', { price: 0.0000001 }, 'price', 'must have at most 6 decimals'],
    ['a price as text', { price: '5' }, 'price', 'must be a number'],
    ['a price beyond all measure', { price: 9_007_199_255 }, 'price'],
    ['an unknown network', { network: 'ethereum' }, 'network'],
    ['base with a sandbox key', { network: 'base' }, 'network'],
    ['an invalid recipient', { recipient: '0x1234' }, 'recipient'],
    ['a recipient with a slip in it', { recipient: '0x70997970C51812dc3A010C7d01b50e0d17dc79c8' }, 'recipient'],
    ['the zero address', { recipient: `0x${'0'.repeat(40)}` }, 'recipient'],
    ['a redirect of another scheme', { redirectUrl: 'javascript:alert(1)' }, 'redirectUrl'],
    ['a redirect as data', { redirectUrl: 'data:text/html,x' }, 'redirectUrl'],
    ['a redirect to nowhere', { redirectUrl: '/thanks' }, 'redirectUrl'],
    ['test mode as text', { testMode: 'yes' }, 'testMode'],
    ['an unknown lifetime', { lifetime: 'eternal' }, 'lifetime'],
    ['an unknown response mode', { responseMode: 'later' }, 'responseMode'],
    ['half a source', { source: { instanceId: 'i', workflowId: 'w' } }, 'source.nodeId', 'is required'],
    ['fields that are no list', { fields: { a: 'text' } }, 'fields'],
    ['a field without a type', { fields: [{ name: 'a' }] }, 'fields.0.type'],
    ['a field of an unknown type', field({ type: 'colour' }), 'fields.0.type'],
    ['a field whose name is no name', field({ name: 'a b' }), 'fields.0.name'],
    ['a field whose name programs keep', field({ name: 'constructor' }), 'fields.0.name'],
    [
      'two fields of one name',
      {
        fields: [
          { name: 'a', type: 'text' },
          { name: 'a', type: 'url' },
        ],
      },
      'fields.1.name',
    ],
    ['a select without options', field({ type: 'select' }), 'fields.0.options'],
    ['options of a text', field({ options: ['a'] }), 'fields.0.options'],
    ['an option twice', field({ type: 'select', options: ['a', 'a'] }), 'fields.0.options'],
    ['an invalid pattern', field({ pattern: '[a-' }), 'fields.0.pattern', 'must be a regular expression'],
    ['a pattern that looks ahead', field({ pattern: '(?=a)a' }), 'fields.0.pattern'],
    ['a pattern of a number', field({ type: 'number', pattern: 'a' }), 'fields.0.pattern'],
    ['less than nothing', field({ min: 5, max: 2 }), 'fields.0.max'],
    ['a default that does not fit', field({ type: 'number', default: 'many' }), 'fields.0.default'],
    ['an unknown part of a field', field({ colour: 'red' }), 'fields.0.colour', 'is not known'],
    [
      'too many fields',
      { fields: Array.from({ length: 51 }, (_, n) => ({ name: `f${String(n)}`, type: 'text' })) },
      'fields',
    ],
  ])('%s', async (...[, more, name, message]) => {
    const body = {
      callbackUrl: world.workflow.url,
      product: { name: 'SEO audit' },
      price: 5,
      network: 'base-sepolia',
      recipient: world.recipient,
      ...more,
    }
    const answer = await world.seller.call('POST', '/v1/checkouts', { body })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      code: 'invalid_input',
      error: expect.any(String),
      requestId: expect.any(String),
    })
    expect(Object.keys(answer.body.details as object)).toContain(name)
    if (message !== undefined) expect(answer.body.details[name]).toBe(message)
    expect((await world.seller.call('GET', '/v1/checkouts')).body.total).toBe(0)
  })
})

describe('POST /v1/checkouts: 400 on a live server', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({
      works: false,
      environment: { ...LIVE, ALLOW_PRIVATE_CALLBACKS: '' },
      person: 'production',
    })
  })
  afterAll(() => world.close())

  it.each([
    ['a callback to a private address', { callbackUrl: 'http://10.0.0.7/hook' }, 'callbackUrl'],
    ['a callback to this machine', { callbackUrl: 'http://localhost:5678/hook' }, 'callbackUrl'],
    ['no recipient where there are no wallet addresses', { recipient: null }, 'recipient'],
  ])('%s', async (_, more, name) => {
    const body = {
      callbackUrl: 'http://192.0.2.1/',
      product: { name: 'SEO audit' },
      price: 5,
      network: 'base',
      recipient: world.recipient,
      ...more,
    }
    const answer = await world.seller.call('POST', '/v1/checkouts', { body })
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body.details as object)).toEqual([name])
    expect((await world.seller.call('GET', '/v1/checkouts')).body.total).toBe(0)
  })
})

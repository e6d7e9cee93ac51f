import { LIVE } from '../../checkouts/world.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'
import { PAYWALL } from './paywall.ts'

const route = (change: object) => ({ routes: [{ method: 'GET', path: '/x', pricing: { model: 'free' }, ...change }] })
const priced = (pricing: object) => route({ pricing })

describe('POST /paywalls, refused', () => {
  let service: TestService
  let person: TestPerson
  beforeAll(async () => {
    service = await testService(LIVE)
    person = await service.person()
  })
  afterAll(() => service.close())

  it.each<[field: string, change: Record<string, unknown>]>([
    ['slug', { slug: undefined }],
    ['slug', { slug: 'Upper' }],
    ['slug', { slug: 'a--b' }],
    ['slug', { slug: 'payments' }],
    ['name', { name: '' }],
    ['upstreamUrl', { upstreamUrl: 'ftp://example.com' }],
    ['upstreamUrl', { upstreamUrl: 'http://user:secret@example.com' }],
    ['upstreamUrl', { upstreamUrl: 'http://127.0.0.1/?key=1' }],
    ['upstreamUrl', { upstreamUrl: 'http://169.254.169.254/latest' }],
    ['upstreamUrl', { upstreamUrl: 'http://no.such.host.invalid' }],
    ['upstreamHeaders.Host', { upstreamHeaders: { Host: 'x' } }],
    ['upstreamHeaders.X-Forwarded-For', { upstreamHeaders: { 'X-Forwarded-For': '1.2.3.4' } }],
    ['upstreamHeaders.Transfer-Encoding', { upstreamHeaders: { 'Transfer-Encoding': 'chunked' } }],
    ['upstreamHeaders', { upstreamHeaders: { 'X-A': 'a\r\nX-B: b' } }],
    ['upstreamHeaders', { upstreamHeaders: { 'X A': 'a' } }],
    ['network', { network: 'ethereum' }],
    ['network', { network: 'base' }],
    ['recipient', { recipient: '0x1' }],
    ['recipient', { recipient: '0x70997970C51812dc3A010C7d01b50e0d17dc79c8' }],
    ['recipient', { recipient: `0x${'0'.repeat(40)}` }],
    ['milestones.0', { milestones: [0] }],
    ['milestones.0', { milestones: [0.0000001] }],
    ['status', { status: 'gone' }],
    ['extra', { extra: 1 }],
    ['routes', { routes: [] }],
    ['routes.0.method', route({ method: 'get' })],
    ['routes.0.path', route({ path: 'x' })],
    ['routes.0.path', route({ path: '/a//b' })],
    ['routes.0.path', route({ path: '/../b' })],
    ['routes.0.path', route({ path: '/*/b' })],
    ['routes.0.path', route({ path: '/a*' })],
    ['routes.0.path', route({ path: '/a%2f' })],
    ['routes.0.path', route({ path: '/a?b' })],
    ['routes.0.settle', route({ settle: 'never' })],
    ['routes.0.pricing.model', priced({ model: 'per-mile' })],
    ['routes.0.pricing.amount', priced({ model: 'per-request' })],
    ['routes.0.pricing.amount', priced({ model: 'per-request', amount: 0 })],
    ['routes.0.pricing.amount', priced({ model: 'per-request', amount: -1 })],
    ['routes.0.pricing.amount', priced({ model: 'per-request', amount: 0.0000001 })],
    ['routes.0.pricing.amount', priced({ model: 'per-request', amount: '1' })],
    ['routes.0.pricing.tiers', priced({ model: 'tiered', tiers: [], window: 'day' })],
    ['routes.0.pricing.tiers.0.upTo', priced({ model: 'tiered', tiers: [{ upTo: 1, amount: 1 }], window: 'day' })],
    [
      'routes.0.pricing.tiers.1.upTo',
      priced({
        model: 'tiered',
        tiers: [{ upTo: 5, amount: 1 }, { upTo: 5, amount: 1 }, { amount: 1 }],
        window: 'day',
      }),
    ],
    [
      'routes.0.pricing.tiers.0.upTo',
      priced({ model: 'tiered', tiers: [{ amount: 1 }, { amount: 1 }], window: 'day' }),
    ],
    ['routes.0.pricing.window', priced({ model: 'tiered', tiers: [{ amount: 1 }], window: 'year' })],
    ['routes.0.pricing.maximum', priced({ model: 'per-token', input: 1, output: 1, minimum: 0, maximum: 0 })],
    ['routes.0.pricing.minimum', priced({ model: 'per-token', input: 1, output: 1, minimum: 2, maximum: 1 })],
    ['routes.0.pricing.maximum', priced({ model: 'per-minute', amount: 60, minimum: 0, maximum: 0.9 })],
    ['routes.1', { routes: [...route({}).routes, ...route({}).routes] }],
    ['routes.1', { routes: [...route({ path: '/*', method: '*' }).routes, ...route({ path: '/x/:y' }).routes] }],
  ])("answers 400 naming %s, also in the dashboard's check", async (field, change) => {
    const body = { ...PAYWALL, slug: 'another', ...change }
    const answer = await person.call('POST', '/v1/paywalls', { body })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
    expect(Object.keys(answer.body.details as object)).toContain(field)
    // Only the step's own fields are checked: missing fields belong to another step.
    if (body.slug === undefined) return
    expect(await check(body)).toEqual({ status: 400, details: answer.body.details as unknown })
  })

  /** The errors that the dashboard's form gets for a step, under the fields' own names. */
  async function check(body: object, id: string | null = null) {
    const { status, body: answer } = await person.call('POST', '/trpc/paywalls.check', { body: { id, body } })
    const details: object = answer.error?.data.fields.details ?? {}
    const named = Object.entries(details).map(([name, text]) => [name.replace(/^body\./, ''), text as unknown])
    return { status, details: Object.fromEntries(named) as unknown }
  }

  it('checks one step alone, and makes nothing', async () => {
    const { slug, name, routes, network } = PAYWALL
    expect(await check({ slug: 'alone', name })).toEqual({ status: 200, details: {} })
    expect(await check({ routes })).toEqual({ status: 200, details: {} })
    expect(await check({ network, recipient: null, testMode: true })).toEqual({ status: 200, details: {} })
    expect((await person.call('GET', '/v1/paywalls')).body.total).toBe(0)

    const created = await person.call('POST', '/v1/paywalls', { body: { ...PAYWALL, slug: 'checked' } })
    const id = String(created.body.paywall.id)
    const slugTaken = { status: 409, details: { slug: 'belongs to another paywall' } }
    expect(await check({ slug: 'checked' })).toEqual(slugTaken)
    expect(await check({ slug: 'checked' }, id)).toEqual({ status: 200, details: {} })
    expect((await check({ slug }, 'pwl_none')).status).toBe(404)
    await person.call('DELETE', `/v1/paywalls/${id}`)
  })

  it('answers 401 without a key, and 403 to an agent’s', async () => {
    expect((await service.call('POST', '/v1/paywalls', { body: PAYWALL })).status).toBe(401)
    const { body } = await person.call('POST', '/v1/agents', { body: { name: 'An agent' } })
    const key = await person.call('POST', '/v1/keys', { body: { name: 'its key', agentId: body.agent.id } })
    const answer = await service.call('POST', '/v1/paywalls', { body: PAYWALL, key: key.body.secret })
    expect(answer).toMatchObject({ status: 403, body: { code: 'agent_key_forbidden' } })
  })

  it('answers 409 for a slug in use, also in the other environment, until it is removed', async () => {
    const first = await person.call('POST', '/v1/paywalls', { body: PAYWALL })
    expect(first.status).toBe(201)
    const other = await service.person({ environment: 'production' })
    const conflict = await other.call('POST', '/v1/paywalls', { body: PAYWALL })
    expect(conflict).toMatchObject({ status: 409, body: { code: 'slug_taken', details: { slug: expect.any(String) } } })
    await person.call('DELETE', `/v1/paywalls/${String(first.body.paywall.id)}`)
    expect((await person.call('POST', '/v1/paywalls', { body: PAYWALL })).status).toBe(201)
  })
})

import { verifyReceipt } from '../../../service/pages/browser/verify/verify.ts'
import { en } from '../../../service/pages/browser/words/en.ts'
import { speak } from '../../../service/pages/browser/words/say.ts'
import { sendMcp } from '../../harness/mcp.ts'
import { openWorld, type Answer, type World } from '../../paywall/world.ts'

describe('a client of an API behind a gate', () => {
  let world: World
  beforeAll(async () => {
    speak('en', en)
    world = await openWorld({ chain: true, environment: { SETTLE_CONFIRMATIONS: '1' } })
  })
  afterAll(() => world.close())

  const FREE = { path: '/free', pricing: { model: 'free' } }
  const PAID = { path: '/paid', pricing: { model: 'per-request', amount: 0.5 } }

  // All that frameworks and proxies are known to read a host, a scheme, a path or a client from.
  it.each([
    ...['Forwarded', 'X-Forwarded', 'X-Forwarded-Host', 'X-Forwarded-Server', 'X-Forwarded-Port', 'X-Forwarded-Prefix'],
    ...['X-Host', 'X-HTTP-Host-Override', 'X-Original-Host', 'X_Forwarded_Host', 'X-Forwarded-Scheme', 'X-Scheme'],
    ...['X-URL-Scheme', 'Front-End-Https', 'X-Envoy-Original-Path', 'X-Envoy-Original-Host', 'X-Original-URL'],
    ...['X-Original-Forwarded-For', 'Fastly-Client-IP', 'X-Azure-ClientIP', 'Client-IP', 'X-ProxyUser-Ip'],
  ])('no API receives another host, path or client by %s', async (name) => {
    const { gate } = await world.sell([FREE])
    await world.request(`${gate}/free`, { headers: { [name]: 'evil.example' } })
    const { headers } = world.upstream.requests.at(-1)!
    expect(Object.entries(headers).filter(([, value]) => String(value).includes('evil.example'))).toEqual([])
  })

  it('a deleted gate answers 404 over HTTP, and calls no API over MCP', async () => {
    const seller = await world.service.person()
    await seller.call('PATCH', '/v1/me', { body: { handle: 'weather' } })
    const { id, gate } = await world.sell([FREE], {}, seller)
    const mcp = async (method: string, params: object) =>
      JSON.stringify(await sendMcp(`${world.service.origin}/m/weather/mcp`, { method, params: { ...params } }))
    const name = /"name":"([^"]+)"/.exec(await mcp('tools/list', {}))?.[1] ?? ''
    const call = () => mcp('tools/call', { name, arguments: {} })
    expect(await call()).toContain('"coinslot/status":200')
    expect((await world.request(`${gate}/free`)).status).toBe(200)
    const before = world.upstream.requests.length
    expect((await seller.call('DELETE', `/v1/paywalls/${id}`)).status).toBeLessThan(300)
    const [get, head] = await Promise.all([
      world.request(`${gate}/free`),
      world.request(`${gate}/free`, { method: 'HEAD' }),
      call(),
    ])
    expect([get.status, head.status, world.upstream.requests.length]).toEqual([404, 404, before])
  })

  it('a receipt proves no other sum than the one that was paid', async () => {
    const { id, gate } = await world.sell([PAID])
    const paid = await world.pay(await world.chain.payer(1_000_000n), `${gate}/paid`)
    const proof = { 'x-payment-token': paid.headers.get('x-payment-token') ?? '' }
    const stored = await world.request(`${world.service.origin}/receipts/${paid.headers.get('x-payment-id') ?? ''}`, {
      headers: proof,
    })
    // The seller asks for more now, and anybody may have its signed offer.
    const dear = { ...PAID, method: 'GET', pricing: { model: 'per-request', amount: 950 } }
    await world.seller.call('PATCH', `/v1/paywalls/${id}`, { body: { routes: [dear] } })
    const offered = offersOf(await world.request(`${gate}/paid`))
    const { jws } = stored.body.signed as { jws: { signature: string } }
    const document = (await world.request(`${world.service.origin}/.well-known/did.json`)).body as { id: string }
    const verifier = { issuers: { [document.id]: 'here' }, load: () => Promise.resolve(document) }
    const verification = await verifyReceipt(`${jws.signature} ${offered}`, verifier)
    expect(verification).toMatchObject({ kind: 'valid', facts: { terms: null } })
    const whole = await verifyReceipt(`${offered} ${JSON.stringify(stored.body)} ${offered}`, verifier)
    expect(whole).toMatchObject({ kind: 'valid', facts: { terms: { amount: '0.5 USDC' } } })
  })
})

function offersOf({ headers }: Answer): string {
  return Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()
}

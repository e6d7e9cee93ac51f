import { testService, type TestPerson, type TestService } from '../harness/service.ts'

describe('the networks on which buyers can pay', () => {
  const opened: TestService[] = []
  afterAll(async () => {
    for (const service of opened) await service.close()
  })

  async function open(environment: Record<string, string>): Promise<{ service: TestService; seller: TestPerson }> {
    const service = await testService(environment)
    opened.push(service)
    return { service, seller: await service.person() }
  }
  const servedBy = async (seller: TestPerson): Promise<unknown> =>
    (await seller.call('GET', '/trpc/settings.served')).body.result.data

  test('are none on a server that cannot settle, whose checkouts are active but not available', async () => {
    const { service, seller } = await open({})
    const terms = { product: { name: 'Audit' }, price: 1, network: 'base-sepolia', testMode: false }
    const body = { ...terms, callbackUrl: 'http://127.0.0.1:9/own', recipient: `0x${'11'.repeat(20)}` }
    const { checkout } = (await seller.call('POST', '/v1/checkouts', { body })).body
    expect(checkout.status).toBe('active')
    expect((await service.call('GET', `/p/${String(checkout.id)}`)).body.available).toBe(false)
    expect(await servedBy(seller)).toEqual({ checkouts: [], paywalls: [] })
  })

  test('are those of another facilitator, for paywalls that it settles', async () => {
    const { seller } = await open({ GATE_FACILITATOR_URL: 'http://127.0.0.1:9/facilitator' })
    expect(await servedBy(seller)).toEqual({ checkouts: [], paywalls: ['base', 'base-sepolia'] })
  })

  test('are those with an RPC and a sponsor', async () => {
    const key = { SPONSOR_PRIVATE_KEYS: `0x${'21'.repeat(32)}` }
    const { seller } = await open({ BASE_SEPOLIA_RPC_URLS: 'http://127.0.0.1:9', ...key })
    expect(await servedBy(seller)).toEqual({ checkouts: ['base-sepolia'], paywalls: ['base-sepolia'] })
  })
})

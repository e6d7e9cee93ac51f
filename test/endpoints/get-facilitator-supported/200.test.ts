import { testService, type TestService } from '../../harness/service.ts'

describe('GET {facilitator_url}/supported', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  it('lists all four networks, also where none of them is configured', async () => {
    const { status, headers, body } = await service.call('GET', '/facilitator/supported')
    expect(status).toBe(200)
    expect(body).toEqual({
      kinds: [
        { x402Version: 1, scheme: 'exact', network: 'base' },
        { x402Version: 2, scheme: 'exact', network: 'eip155:8453' },
        { x402Version: 1, scheme: 'exact', network: 'base-sepolia' },
        { x402Version: 2, scheme: 'exact', network: 'eip155:84532' },
      ],
      extensions: ['bazaar'],
      signers: { 'eip155:*': [] },
      supportedNetworks: [
        { networkId: 'base', version: 'v1' },
        { networkId: 'eip155:8453', version: 'v2' },
        { networkId: 'base-sepolia', version: 'v1' },
        { networkId: 'eip155:84532', version: 'v2' },
      ],
    })
    expect(headers.get('ratelimit-limit')).toBeNull()
  })
})

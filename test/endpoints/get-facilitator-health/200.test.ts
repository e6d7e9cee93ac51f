import { testService, type TestService } from '../../harness/service.ts'

describe('GET {facilitator_url}/health', () => {
  let service: TestService
  afterEach(() => service.close())

  it('names the facilitator that pays the gas, its networks and versions', async () => {
    service = await testService({ SPONSOR_PRIVATE_KEYS: `0x${'11'.repeat(32)}`, BASE_RPC_URLS: 'http://127.0.0.1:9' })
    const { status, body } = await service.call('GET', '/facilitator/health')
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 'ok',
      facilitator: '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a',
      networks: ['eip155:8453', 'eip155:84532'],
      versions: ['v1', 'v2'],
    })
  })

  it('names no facilitator where none is configured, and has no rate limit', async () => {
    service = await testService()
    const { status, headers, body } = await service.call('GET', '/facilitator/health')
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'ok', facilitator: null })
    expect(headers.get('ratelimit-limit')).toBeNull()
  })
})

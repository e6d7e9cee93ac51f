import { openWorld, request, usdcOf, type World } from '../../facilitator/world.ts'

describe('POST {facilitator_url}/settle', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: { chainId: 8453 } })
  })
  afterAll(() => world.close())

  it.each([1, 2] as const)(
    'moves the whole amount to the seller, in version %s on the main network',
    async (version) => {
      const { chain, payer, seller, service } = world
      const before = await usdcOf(chain, seller)
      const signed = await payer.authorize(chain.network, seller, { value: 1_234_567n })
      const { status, body } = await service.post('/settle', request(chain, version, signed))
      expect(status).toBe(200)
      expect(body).toEqual({
        success: true,
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        txHash: body.transaction,
        network: version === 1 ? 'base' : 'eip155:8453',
        payer: payer.address,
        errorReason: null,
        error_reason: null,
        errorMessage: null,
        settled: true,
        status: 'settled',
      })
      expect((await usdcOf(chain, seller)) - before).toBe(1_234_567n)
      const again = await service.post('/settle', request(chain, version, signed))
      expect(again.body).toMatchObject({
        success: false,
        transaction: '',
        txHash: body.transaction,
        errorReason: 'invalid_exact_evm_nonce_already_used',
        settled: false,
        status: 'settled',
      })
    },
  )
})

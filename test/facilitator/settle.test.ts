import { openWorld, request, sentBy, usdcOf, type World } from './world.ts'

describe('settle', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ services: 2 })
  })
  afterAll(() => world.close())

  it('moves the money once and reports it, in either version', async () => {
    for (const version of [1, 2] as const) {
      const { chain, payer, seller, service } = world
      const before = await usdcOf(chain, seller)
      const signed = await payer.authorize(chain.network, seller)
      const verified = await service.post('/verify', request(chain, version, signed))
      expect(verified.body).toEqual({
        isValid: true,
        invalidReason: null,
        payer: payer.address,
        valid: true,
        reason: null,
      })
      const { status, body } = await service.post('/settle', request(chain, version, signed))
      expect(status).toBe(200)
      expect(body).toEqual({
        success: true,
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        txHash: body.transaction,
        network: version === 1 ? 'base-sepolia' : 'eip155:84532',
        payer: payer.address,
        errorReason: null,
        error_reason: null,
        errorMessage: null,
        settled: true,
        status: 'settled',
      })
      expect((await usdcOf(chain, seller)) - before).toBe(1_000_000n)
    }
  })
  it('returns the success to one of a hundred concurrent callers, and the hash to all', async () => {
    const { chain, payer, seller, services } = world
    const sponsor = chain.accounts[0]!.address
    const before = await sentBy(chain, sponsor)
    const body = request(chain, 2, await payer.authorize(chain.network, seller))
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, place) => services[place % 2]!.post('/settle', body)),
    )
    const successes = answers.filter((answer) => answer.body.success)
    expect(successes).toHaveLength(1)
    const hash = successes[0]!.body.transaction as string
    for (const answer of answers.filter((each) => !each.body.success)) {
      expect(['settlement_pending', 'invalid_exact_evm_nonce_already_used']).toContain(answer.body.errorReason)
      expect(answer.body).toMatchObject({ transaction: '', txHash: hash, settled: false })
    }
    expect((await sentBy(chain, sponsor)) - before).toBe(1)
  })
})

import { openWorld, request, type World } from '../../facilitator/world.ts'

describe('POST {facilitator_url}/verify', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: { chainId: 8453 } })
  })
  afterAll(() => world.close())

  it.each([1, 2] as const)('answers that a payment is valid, and moves nothing, in version %s', async (version) => {
    const { chain, payer, seller, service } = world
    const signed = await payer.authorize(chain.network, seller)
    const body = { ...request(chain, version, signed), payment: { ignored: true } }
    const written = signed.from.toUpperCase().replace('0X', '0x')
    body.paymentPayload.payload.authorization.from = written as typeof signed.from
    for (let time = 0; time < 2; time++) {
      const answer = await service.post('/verify', body)
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({ isValid: true, invalidReason: null, payer: written, valid: true, reason: null })
    }
    expect(await world.database.statements.run('SELECT 1 FROM facilitator_settlement', [])).toEqual([])
  })

  it('judges each of many concurrent payments separately', async () => {
    const { chain, payer, seller, service } = world
    const poor = await chain.payer(5n)
    const bodies = await Promise.all(
      Array.from({ length: 40 }, async (_, place) =>
        request(chain, 2, await (place % 4 === 3 ? poor : payer).authorize(chain.network, seller)),
      ),
    )
    const answers = await Promise.all(bodies.map((body) => service.post('/verify', body)))
    answers.forEach(({ body }, place) => {
      expect(body.invalidReason).toBe(place % 4 === 3 ? 'invalid_exact_evm_insufficient_balance' : null)
    })
  })
})

import { openWorld, request, type World } from '../../facilitator/world.ts'

describe('GET {facilitator_url}/settlements/{network}/{payer}/{nonce}', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  it('returns the status of an authorization, by either name of the network', async () => {
    const { chain, payer, seller, service } = world
    const signed = await payer.authorize(chain.network, seller)
    const settled = await service.post('/settle', request(chain, 2, signed))
    for (const network of ['base-sepolia', 'eip155:84532']) {
      const { status, body } = await service.get(`/settlements/${network}/${payer.address}/${signed.nonce}`)
      expect(status).toBe(200)
      expect(body).toEqual({
        network,
        payer: payer.address,
        nonce: signed.nonce,
        payTo: seller,
        value: '1000000',
        status: 'settled',
        txHash: settled.body.txHash,
        errorReason: null,
        errorMessage: null,
        confirmed: false,
        claimedAt: expect.stringMatching(/Z$/),
        endedAt: expect.stringMatching(/Z$/),
      })
    }
  })
})

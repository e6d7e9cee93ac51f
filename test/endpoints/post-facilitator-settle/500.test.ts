import { openWorld, request, until, type World } from '../../facilitator/world.ts'

describe('POST {facilitator_url}/settle', () => {
  let world: World
  afterAll(() => world.close())

  it('answers 500 when the chain refuses a transfer for no fault of the payment', async () => {
    // The transfer reverts in its block, and would succeed again by the time its failure is examined.
    world = await openWorld({
      chain: { mining: 'manual' },
      failpoints: { reach: (at) => (at === 'transaction mined' ? world.chain.setPaused(false) : undefined) },
    })
    const { chain, payer, seller, service } = world
    const signed = await payer.authorize(chain.network, seller)
    const settlement = service.post('/settle', request(chain, 2, signed))
    await until(async () => ((await chain.call('txpool_status')) as { pending: string }).pending !== '0x0')
    await chain.setPaused(true)
    await chain.mine()
    await until(async () => (await settlements()).some(({ state }) => state === 'failed'))
    // Deep enough that no other branch can replace it.
    await chain.mine(3)
    world.clock.forward(2_000)
    const { status, body } = await settlement
    expect(status).toBe(500)
    expect(body).toMatchObject({
      error: expect.any(String),
      code: 'invalid_exact_evm_transaction_failed',
      requestId: expect.stringMatching(/^req_/),
      success: false,
      transaction: '',
      txHash: null,
      network: 'eip155:84532',
      payer: payer.address,
      errorReason: 'invalid_exact_evm_transaction_failed',
      settled: false,
      status: 'failed',
    })
    // The result stays the same: an authorization has one transaction, and that one has been made.
    expect((await service.post('/settle', request(chain, 2, signed))).status).toBe(500)

    function settlements(): Promise<{ state: string }[]> {
      return world.database.statements.run<{ state: string }>('SELECT state FROM facilitator_settlement', [])
    }
  })
})

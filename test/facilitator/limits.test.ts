import { openWorld, request, until, type World } from './world.ts'

describe('what a sponsor is willing to pay', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ services: 0 })
  })
  afterAll(() => world.close())

  async function settleWith(environment: Record<string, string>, payer = world.payer) {
    const { chain, seller } = world
    const service = await world.add({ environment })
    const first = await service.post('/settle', request(chain, 2, await payer.authorize(chain.network, seller)))
    const second = await service.post('/settle', request(chain, 2, await payer.authorize(chain.network, seller)))
    return { service, first, second }
  }

  it('is counted by payer and day', async () => {
    const { service, first, second } = await settleWith({ GAS_BUDGET_PER_PAYER_DAY: '0.000000000001' })
    expect(first.body.success).toBe(true)
    expect(second.status).toBe(429)
    expect(second.body).toMatchObject({ code: 'payer_gas_budget_spent', success: false })
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
    const { chain, seller } = world
    const other = await chain.payer(1_000_000n)
    const others = await service.post('/settle', request(chain, 2, await other.authorize(chain.network, seller)))
    expect(others.body.success).toBe(true)
    await service.close()
  })

  it('is counted by network and day, and begins anew at midnight', async () => {
    const rich = await world.chain.payer(9_000_000n)
    const { service, first } = await settleWith({ GAS_BUDGET_PER_DAY: '0.000000000001' }, rich)
    expect(first.status).toBe(503)
    expect(first.body).toMatchObject({ code: 'gas_budget_spent', success: false })
    world.clock.forward(86_400_000)
    const { chain, seller } = world
    const validBefore = BigInt(Math.floor(world.clock.now().getTime() / 1000) + 600)
    const signed = await rich.authorize(chain.network, seller, { validBefore })
    expect((await service.post('/settle', request(chain, 2, signed))).body.success).toBe(true)
    await service.close()
  })

  it('is told on /readyz and in the metrics when it runs low', async () => {
    const service = await world.add({ environment: { SPONSOR_LOW_BALANCE: '20000' } })
    const origin = new URL(service.origin).origin
    const sponsors = await until(async () => {
      const { sponsors } = (await (await fetch(`${origin}/readyz`)).json()) as { sponsors: { wei: string | null }[] }
      return sponsors.every(({ wei }) => wei !== null) ? sponsors : null
    })
    expect(sponsors).toEqual([
      {
        network: 'base-sepolia',
        sponsor: world.chain.accounts[0]!.address,
        wei: expect.stringMatching(/^\d+$/),
        low: true,
      },
    ])
    const figures = await (await fetch(`${origin}/metrics`)).text()
    expect(figures).toMatch(/^coinslot_sponsors_low_on_gas 1$/m)
    expect(figures).toMatch(/^coinslot_sponsor_low\{network="base-sepolia",sponsor="0x\w{40}"\} 1$/m)
    expect(figures).toMatch(/^coinslot_sponsor_balance_eth\{network="base-sepolia",sponsor="0x\w{40}"\} [1-9]/m)
    expect(figures).toMatch(/^coinslot_chain_up\{network="base-sepolia"\} 1$/m)
    expect(figures).toMatch(/^coinslot_chain_head_age_seconds\{network="base-sepolia"\} [\d.]+$/m)
    await service.close()
  })

  it('is never spent on an authorization whose time is over: it fails without a transaction', async () => {
    const { chain, payer, seller, clock, database } = world
    const service = await world.add({ writes: false, environment: { SETTLE_WAIT_MS: '0' } })
    const validBefore = BigInt(Math.floor(clock.now().getTime() / 1000) + 60)
    const body = request(chain, 2, await payer.authorize(chain.network, seller, { validBefore }))
    expect((await service.post('/settle', body)).body).toMatchObject({ status: 'pending', txHash: null })
    clock.forward(120_000)
    await chain.call('evm_setNextBlockTimestamp', Number(validBefore))
    await chain.mine()
    await service.facilitator.reconcile(clock.now())
    expect((await service.post('/settle', body)).body).toMatchObject({
      status: 'failed',
      errorReason: 'invalid_exact_evm_payload_authorization_valid_before',
    })
    const rows = await database.statements.run(
      `SELECT 1 FROM facilitator_settlement WHERE state = 'failed' AND transaction_id IS NULL`,
      [],
    )
    expect(rows).toHaveLength(1)
  })
})

import { encodeTransfer } from '../../service/chain/calldata.ts'
import { honest, lagging, startRelay } from '../chain/relay.ts'
import { openWorld, request, until, type World } from './world.ts'

describe('the limits of a sponsor', () => {
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

  it('count gas by payer and day', async () => {
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

  it('count gas by recipient and day, pending settlements included', async () => {
    const { chain } = world
    const [seller, other] = [(await chain.payer(0n)).address, (await chain.payer(0n)).address]
    const service = await world.add({
      writes: false,
      environment: { GAS_BUDGET_PER_RECIPIENT_DAY: '0.000000000001', SETTLE_WAIT_MS: '0' },
    })
    const settle = async (to = seller) => {
      const payer = await chain.payer(1_000_000n)
      return await service.post('/settle', request(chain, 2, await payer.authorize(chain.network, to)))
    }
    // Its price is known once the sponsors were looked at.
    await service.post('/verify', request(chain, 2, await world.payer.authorize(chain.network, seller)))
    expect((await settle()).body.status).toBe('pending')
    const second = await settle()
    expect([second.status, second.body.code]).toEqual([429, 'recipient_gas_budget_spent'])
    expect((await settle(other)).body.status).toBe('pending')
    await service.close()
  })

  it("count gas by the caller's address and day, pending settlements included", async () => {
    const { chain } = world
    const service = await world.add({
      writes: false,
      environment: { GAS_BUDGET_PER_CALLER_DAY: '0.000000000001', SETTLE_WAIT_MS: '0', TRUST_PROXY: 'loopback' },
    })
    const settle = async (from: string) => {
      const [payer, { address: to }] = [await chain.payer(1_000_000n), await chain.payer(0n)]
      const body = request(chain, 2, await payer.authorize(chain.network, to))
      return await service.post('/settle', body, { 'x-forwarded-for': from })
    }
    // Its price is known once the sponsors were looked at.
    await service.post('/verify', request(chain, 2, await world.payer.authorize(chain.network, world.seller)))
    expect((await settle('2001:db8:1:1::1')).body.status).toBe('pending')
    const second = await settle('2001:db8:1:1::2')
    expect([second.status, second.body.code]).toEqual([429, 'caller_gas_budget_spent'])
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await settle('2001:db8:1:2::1')).body.status).toBe('pending')
    // Mined transactions count for their caller as well, at the price that they had.
    const writer = await world.add({ environment: { GAS_BUDGET_PER_CALLER_DAY: '0.000000000001' } })
    const spent = `SELECT 1 FROM facilitator_gas WHERE spent > 0
      AND payer = '\\x02'::bytea || substring(sha256(convert_to($1, 'UTF8')) FROM 1 FOR 20)`
    await until(async () => {
      const rows = await world.database.statements.run(spent, ['caller 2001:db8:1:1::/64'])
      return rows.length > 0 ? rows : null
    })
    await Promise.all([service.close(), writer.close()])
  })

  it('keep a reserve that outside callers cannot spend', async () => {
    const { first, service } = await settleWith(
      { GAS_BUDGET_PER_DAY: '1', GAS_RESERVE_PERCENT: '100' },
      await world.chain.payer(9_000_000n),
    )
    expect([first.status, first.body.code]).toEqual([503, 'gas_budget_spent'])
    await service.close()
  })

  it.each([0n, 99n])('refuse to spend gas on %i micro-USDC', async (value) => {
    const service = await world.add()
    const { chain, seller } = world
    const payer = await chain.payer(1_000_000n)
    const reason = 'invalid_exact_evm_payload_authorization_value_too_low'
    const dust = request(chain, 2, await payer.authorize(chain.network, seller, { value }))
    const verified = await service.post('/verify', dust)
    expect([verified.status, verified.body.isValid, verified.body.invalidReason]).toEqual([200, false, reason])
    const settled = await service.post('/settle', dust)
    expect([settled.status, settled.body.success, settled.body.errorReason]).toEqual([200, false, reason])
    expect(settled.body.status).toBe('failed')
    await service.close()
  })

  it('report a sponsor out of gas, and claim nothing that it cannot send', async () => {
    const { chain, seller, database, clock } = world
    const sponsor = chain.accounts[0]!.address
    const balance = await chain.call('eth_getBalance', sponsor, 'latest')
    await chain.call('anvil_setBalance', sponsor, '0x0')
    const service = await world.add()
    const payer = await chain.payer(1_000_000n)
    const body = request(chain, 2, await payer.authorize(chain.network, seller))
    const verified = await service.post('/verify', body)
    expect([verified.status, verified.body.isValid, verified.body.invalidReason]).toEqual([
      200,
      false,
      'facilitator_out_of_gas',
    ])
    const settled = await service.post('/settle', body)
    expect([settled.status, settled.body.code, settled.body.errorReason, settled.body.status]).toEqual([
      500,
      'facilitator_out_of_gas',
      'facilitator_out_of_gas',
      'failed',
    ])
    expect((await service.get('/health')).body.status).toBe('out_of_gas')
    const [row] = await database.statements.run<{ open: number }>(
      `SELECT count(*)::int AS open FROM facilitator_settlement WHERE payer = decode(substr($1, 3), 'hex')`,
      [payer.address],
    )
    expect(row?.open).toBe(0)
    await chain.call('anvil_setBalance', sponsor, balance)
    clock.forward(5_000)
    await until(async () => ((await service.post('/verify', body)).body.isValid === true ? true : null))
    expect((await service.post('/settle', body)).body.success).toBe(true)
    await service.close()
  })

  it('count gas by network and day, and start over at midnight', async () => {
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

  it('report a low balance on /readyz and in the metrics', async () => {
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
        empty: false,
      },
    ])
    const metrics = await (await fetch(`${origin}/metrics`)).text()
    expect(metrics).toMatch(/^coinslot_sponsors_low_on_gas 1$/m)
    expect(metrics).toMatch(/^coinslot_sponsor_low\{network="base-sepolia",sponsor="0x\w{40}"\} 1$/m)
    expect(metrics).toMatch(/^coinslot_sponsor_balance_eth\{network="base-sepolia",sponsor="0x\w{40}"\} [1-9]/m)
    expect(metrics).toMatch(/^coinslot_chain_up\{network="base-sepolia"\} 1$/m)
    expect(metrics).toMatch(/^coinslot_chain_head_age_seconds\{network="base-sepolia"\} [\d.]+$/m)
    await service.close()
  })

  it('spend nothing on an expired authorization, which fails without a transaction', async () => {
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

  it('do not expire a paid authorization that the node has not seen yet', async () => {
    const { chain, payer, seller, clock } = world
    const relay = await startRelay(chain.url)
    const environment = { SETTLE_WAIT_MS: '0', BASE_SEPOLIA_RPC_URLS: relay.url }
    const service = await world.add({ writes: false, environment })
    const newest = (await chain.call('eth_getBlockByNumber', 'latest', false)) as { number: string; timestamp: string }
    const validBefore = BigInt(Math.max(Math.floor(clock.now().getTime() / 1000), Number(newest.timestamp)) + 60)
    const signed = await payer.authorize(chain.network, seller, { validBefore })
    const body = request(chain, 2, signed)
    expect((await service.post('/settle', body)).body).toMatchObject({ status: 'pending' })
    const usdc = chain.network.usdc.address
    const { data } = encodeTransfer(usdc, signed, false)
    await chain.call('anvil_impersonateAccount', chain.accounts[1]!.address)
    await chain.call('eth_sendTransaction', { from: chain.accounts[1]!.address, to: usdc, data, gas: '0x30d40' })
    // anvil answers before it mines: the time that is set next would be that block's.
    await chain.mine()
    await chain.call('evm_setNextBlockTimestamp', Number(validBefore))
    await chain.mine()
    clock.forward(120_000)
    // The block comes from one node, the state behind the same address from another.
    relay.behave(lagging(BigInt(newest.number), ['eth_getBlockByNumber']))
    await service.facilitator.reconcile(clock.now())
    expect((await service.post('/settle', body)).body).toMatchObject({ status: 'pending' })
    relay.behave(honest)
    clock.forward(10_000)
    await service.facilitator.reconcile(clock.now())
    expect((await service.post('/settle', body)).body).toMatchObject({ success: true, status: 'settled' })
    await service.close()
    await relay.stop()
  })
})

describe('expired authorizations', () => {
  it('keep no other one waiting as long as the nodes agree on nothing', async () => {
    const world = await openWorld({ services: 0 })
    const { chain, payer, seller, clock, database } = world
    const away = await startRelay(chain.url, () => ({ status: 502, body: {} }))
    const environment = { SETTLE_WAIT_MS: '0', BASE_SEPOLIA_RPC_URLS: `${chain.url},${away.url}` }
    const service = await world.add({ writes: false, environment })
    const newPayment = async () => request(chain, 2, await payer.authorize(chain.network, seller))
    const [expired, timely] = [await newPayment(), await newPayment()]
    expect((await service.post('/settle', expired)).body).toMatchObject({ status: 'pending' })
    const now = clock.now()
    const nonce = Buffer.from(expired.paymentPayload.payload.authorization.nonce.slice(2), 'hex')
    const copies = `INSERT INTO facilitator_settlement SELECT (jsonb_populate_record(s, to_jsonb(s) || jsonb_build_object(
      'digest', sha256(s.digest || n::text::bytea), 'nonce', sha256(s.nonce || n::text::bytea),
      'valid_before', $2::bigint, 'claimed_at', $3::timestamptz))).*
      FROM facilitator_settlement s, generate_series(1, 210) n WHERE s.nonce = $1`
    const validBefore = Math.floor(now.getTime() / 1_000) - 60
    await database.statements.run(copies, [nonce, validBefore, new Date(now.getTime() - 60_000)])
    service.facilitator.start()
    expect((await service.post('/settle', timely)).body).toMatchObject({ status: 'pending' })
    await until(async () => (await service.post('/settle', timely)).body.success === true)
    await world.close()
    await away.stop()
  })
})

import type { Hex } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import { escrowBody, escrowCall, escrowed, escrowTerms, payEscrow, seller } from '../harness/escrow.ts'
import { openWorld, sentBy, until, usdcOf, type World } from './world.ts'

interface Settled {
  success: boolean
  errorReason: string | null
  amount?: string
}

const ALL = { capturable: 1_000_000n, refundable: 0n }

describe('trouble with money in the escrow', () => {
  let world: World
  let operator: Hex
  let signer: TestAccount
  beforeAll(async () => {
    world = await openWorld({ chain: { mining: 'manual' } })
    operator = world.chain.accounts[0]!.address
    signer = world.chain.accounts[2]!
  })
  afterAll(() => world.close())

  const pooled = () =>
    until(async () => ((await world.chain.call('txpool_status')) as { pending: string }).pending !== '0x0')
  const settle = async (body: unknown): Promise<Settled> => (await world.service.post('/settle', body)).body as Settled
  const mined = async (body: unknown) => {
    const settlement = settle(body)
    await pooled()
    await world.chain.mine()
    return await settlement
  }
  const chainTime = async () =>
    Number(((await world.chain.call('eth_getBlockByNumber', 'latest', false)) as { timestamp: Hex }).timestamp)
  const authorized = async (payer?: TestAccount) => {
    const now = Math.floor(world.clock.now().getTime() / 1000)
    const terms = escrowTerms(world.chain, { operator, receiver: world.seller, signer: signer.address }, { now })
    const paid = { ...(await payEscrow(world.chain, payer ?? world.payer, terms, { now })), terms }
    expect(await mined(paid.body)).toMatchObject({ success: true })
    return paid
  }
  type Paid = Awaited<ReturnType<typeof authorized>>
  const capture = async (paid: Paid, amount: bigint) =>
    escrowBody(paid.terms, await seller(world.chain, signer, operator).capture(paid, amount, ALL))
  const stateOf = async (amount: bigint) => {
    const [row] = await world.database.statements.run<{ state: string; final: boolean }>(
      `SELECT state::text AS state, final FROM facilitator_settlement WHERE operation = 'capture' AND value = $1`,
      [String(amount)],
    )
    return row
  }

  it('a capture whose block is reorganised away is repeated, once', async () => {
    const paid = await authorized()
    const body = await capture(paid, 300_001n)
    const before = await sentBy(world.chain, operator)
    expect(await mined(body)).toMatchObject({ success: true })
    await world.chain.reorg(1)
    expect(await escrowed(world.chain, paid.info)).toMatchObject({ capturable: 1_000_000n })
    world.clock.forward(2_000)
    await until(async () => (await stateOf(300_001n))?.state !== 'settled')
    world.clock.forward(5_000)
    await until(async () => {
      await world.chain.mine()
      return (await stateOf(300_001n))?.state === 'settled'
    })
    await world.chain.mine(5)
    expect(await escrowed(world.chain, paid.info)).toMatchObject({ capturable: 699_999n, refundable: 300_001n })
    expect(await sentBy(world.chain, operator)).toBe(before + 1)
  })

  it('leaves a reverted capture pending until that is final; then it can be repeated', async () => {
    const paid = await authorized()
    const body = await capture(paid, 300_002n)
    const settlement = settle(body)
    await pooled()
    await world.chain.setPaused(true)
    await world.chain.mine()
    await until(async () => (await stateOf(300_002n))?.state === 'failed')
    await world.chain.setPaused(false)
    // Not yet: on another branch the same transaction might still succeed.
    const again = settle(body)
    await world.chain.mine(3)
    world.clock.forward(2_000)
    const refused = { success: false, errorReason: 'invalid_auth_capture_evm_transaction_reverted' }
    expect(await settlement).toMatchObject(refused)
    expect(await again).toMatchObject(refused)
    expect(await escrowed(world.chain, paid.info)).toMatchObject(ALL)
    expect(await mined(body)).toMatchObject({ success: true, amount: '300002' })
    expect(await escrowed(world.chain, paid.info)).toMatchObject({ refundable: 300_002n })
  })

  it('a capture that no sponsor signs before the deadline fails, and moves nothing', async () => {
    const paid = await authorized()
    const silent = await world.add({ writes: false, environment: { SETTLE_WAIT_MS: '0' } })
    await world.service.close()
    const body = await capture(paid, 300_003n)
    expect((await silent.post('/settle', body)).body).toMatchObject({ success: false, status: 'pending' })
    world.clock.forward(3_700_000)
    await world.chain.call('evm_setNextBlockTimestamp', (await chainTime()) + 3_700)
    await world.chain.mine()
    await silent.facilitator.reconcile(world.clock.now())
    expect((await silent.post('/settle', body)).body).toMatchObject({
      success: false,
      errorReason: 'invalid_auth_capture_evm_capture_deadline_expired',
    })
    expect(await escrowed(world.chain, paid.info)).toMatchObject(ALL)
    await silent.close()
  })

  it('with the service stopped for good, the payer reclaims the money alone', async () => {
    const payer = await world.chain.payer(1_000_000n)
    await world.chain.call('anvil_setBalance', payer.address, '0xde0b6b3a7640000')
    const running = await world.add()
    const now = await chainTime()
    const terms = escrowTerms(world.chain, { operator, receiver: world.seller, signer: signer.address }, { now })
    const paid = await payEscrow(world.chain, payer, terms, { now })
    const settlement = running.post('/settle', paid.body)
    await pooled()
    await world.chain.mine()
    expect((await settlement).body).toMatchObject({ success: true })
    await running.close()

    await world.chain.call('anvil_impersonateAccount', payer.address)
    const reclaim = async () => {
      const { to, data } = escrowCall('reclaim', paid.info)
      const hash = await world.chain.call('eth_sendTransaction', { from: payer.address, to, data, gas: '0x493e0' })
      await world.chain.mine()
      return ((await world.chain.call('eth_getTransactionReceipt', hash)) as { status: Hex }).status
    }
    expect(await reclaim()).toBe('0x0')
    await world.chain.call('evm_setNextBlockTimestamp', paid.info.authorizationExpiry)
    expect(await reclaim()).toBe('0x1')
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })
})

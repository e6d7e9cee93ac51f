import type { Hex } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import { escrowCall, escrowed, escrowTerms, hashOf, payEscrow, type EscrowPaid } from '../harness/escrow.ts'
import { PLACES } from './contracts/places.ts'
import { openWorld, type World } from './world.ts'

/** The fixture is what the real escrow does, and the adapter encodes, hashes and reads as it does. */
describe('the escrow', () => {
  let world: World
  let operator: TestAccount
  let receiver: TestAccount
  let payer: TestAccount
  beforeAll(async () => {
    world = await openWorld()
    operator = world.sponsor
    receiver = await world.local.payer(0n)
    payer = await world.local.payer(100_000_000n)
    for (const { address } of [payer, receiver]) {
      await world.local.call('anvil_setBalance', address, '0xde0b6b3a7640000')
    }
  })
  afterAll(() => world.stop())

  const terms = (extra: Record<string, unknown> = {}, amount = 1_000_000n) =>
    escrowTerms(world.local, { operator: operator.address, receiver: receiver.address }, { extra, amount })
  const paid = async (extra: Record<string, unknown> = {}): Promise<EscrowPaid> => {
    const now = Number(
      ((await world.local.call('eth_getBlockByNumber', 'latest', false)) as { timestamp: Hex }).timestamp,
    )
    return payEscrow(
      world.local,
      payer,
      terms({ captureDeadline: now + 1_000, refundDeadline: now + 2_000, ...extra }),
      { now },
    )
  }
  type Rest = readonly unknown[]
  const send = (operation: Parameters<typeof escrowCall>[0], { info }: EscrowPaid, rest: Rest = [], from = operator) =>
    world.send(escrowCall(operation, info, ...rest), from)
  const authorize = async (payment: EscrowPaid, amount = 1_000_000n, from = operator) =>
    send('authorize', payment, [amount, PLACES.collector, payment.signature], from)
  const held = async (payment: EscrowPaid) => escrowed(world.local, payment.info)
  const usdc = (account: TestAccount) => world.chain.balanceOf(account.address)
  const NO_FEE = [0n, '0x0000000000000000000000000000000000000000'] as const
  const statusOf = async (sending: Promise<{ status: string }>) => (await sending).status

  it('holds money, captures it in parts, refunds from the operator, and never more', async () => {
    const payment = await paid()
    const before = { payer: await usdc(payer), receiver: await usdc(receiver) }
    expect(await statusOf(authorize(payment))).toBe('success')
    expect(await held(payment)).toEqual({ collected: true, capturable: 1_000_000n, refundable: 0n })
    for (const amount of [300_000n, 200_000n]) {
      expect(await statusOf(send('capture', payment, [amount, ...NO_FEE]))).toBe('success')
    }
    expect(await held(payment)).toEqual({ collected: true, capturable: 500_000n, refundable: 500_000n })
    expect(await statusOf(send('capture', payment, [500_001n, ...NO_FEE]))).toBe('reverted')

    // Nothing of the operator's was approved yet.
    const refund = [400_000n, PLACES.refundCollector, '0x'] as const
    expect(await statusOf(send('refund', payment, refund))).toBe('reverted')
    await world.local.fund(operator.address, 1_000_000n)
    const approval = `0x095ea7b3${PLACES.refundCollector.slice(2).padStart(64, '0')}${'f'.repeat(64)}` as const
    await world.send({ to: world.local.network.usdc.address, data: approval })
    expect(await statusOf(send('refund', payment, refund))).toBe('success')
    expect(await statusOf(send('refund', payment, refund))).toBe('reverted')
    expect(await held(payment)).toEqual({ collected: true, capturable: 500_000n, refundable: 100_000n })
    expect(await usdc(operator)).toBe(600_000n)

    expect(await statusOf(send('void', payment))).toBe('success')
    expect(await statusOf(send('void', payment))).toBe('reverted')
    expect(await statusOf(authorize(payment))).toBe('reverted')
    expect((await usdc(receiver)) - before.receiver).toBe(500_000n)
    expect(before.payer - (await usdc(payer))).toBe(1_000_000n - 500_000n - 400_000n)
  })

  it("charges everything at once, less the fee within the payer's bounds", async () => {
    const feeReceiver = world.local.accounts[2]!
    const payment = await paid({ minFeeBps: 100, maxFeeBps: 200, feeRecipient: feeReceiver.address })
    const charge = (fee: bigint) =>
      send('charge', payment, [1_000_000n, PLACES.collector, payment.signature, fee, feeReceiver.address])
    for (const fee of [9_999n, 20_001n]) expect(await statusOf(charge(fee))).toBe('reverted')
    const before = await usdc(receiver)
    expect(await statusOf(charge(20_000n))).toBe('success')
    expect((await usdc(receiver)) - before).toBe(980_000n)
    expect(await held(payment)).toEqual({ collected: true, capturable: 0n, refundable: 1_000_000n })
  })

  it('obeys the operator alone, and moves nothing for another payment than the signed one', async () => {
    const payment = await paid()
    expect(await statusOf(authorize(payment, 1_000_000n, payer))).toBe('reverted')
    for (const change of [{ receiver: operator.address }, { operator: payer.address }, { maxAmount: 2_000_000n }]) {
      const changed = { ...payment, info: { ...payment.info, ...change } }
      const from = 'operator' in change ? payer : operator
      expect(await statusOf(authorize(changed, 1_000_000n, from))).toBe('reverted')
    }
    expect(await statusOf(authorize(payment))).toBe('success')
    for (const from of [payer, receiver]) {
      expect(await statusOf(send('capture', payment, [1n, ...NO_FEE], from))).toBe('reverted')
      expect(await statusOf(send('void', payment, [], from))).toBe('reverted')
    }
    expect(await held(payment)).toMatchObject({ capturable: 1_000_000n })
  })

  it('returns the rest to the payer only after the deadline, and captures nothing from then on', async () => {
    const payment = await paid()
    await authorize(payment)
    expect(await statusOf(send('reclaim', payment, [], payer))).toBe('reverted')
    await world.local.call('evm_setNextBlockTimestamp', payment.info.authorizationExpiry)
    expect(await statusOf(send('capture', payment, [1n, ...NO_FEE]))).toBe('reverted')
    for (const from of [operator, receiver]) expect(await statusOf(send('reclaim', payment, [], from))).toBe('reverted')
    const before = await usdc(payer)
    expect(await statusOf(send('reclaim', payment, [], payer))).toBe('success')
    expect((await usdc(payer)) - before).toBe(1_000_000n)
    expect(await statusOf(send('reclaim', payment, [], payer))).toBe('reverted')
  })

  it('is called, hashed and read by the adapter in the same way', async () => {
    const payment = await paid()
    const { network, chainId } = { network: world.local.network, chainId: world.local.network.chainId }
    const info = {
      ...payment.info,
      preApprovalExpiry: BigInt(payment.info.preApprovalExpiry),
      authorizationExpiry: BigInt(payment.info.authorizationExpiry),
      refundExpiry: BigInt(payment.info.refundExpiry),
    }
    const { escrow } = world.chain
    const paymentHash = world.signatures.escrow.paymentHash(network, info)
    expect(paymentHash).toBe(hashOf(chainId, payment.info))
    const none = { collected: false, capturable: 0n, refundable: 0n }
    expect((await escrow.payment(paymentHash)).state).toEqual(none)
    const { signature } = payment
    const feeReceiver = info.feeReceiver
    const calls = [
      escrow.encode({ type: 'authorize', info, amount: 1_000_000n, signature }),
      escrow.encode({ type: 'capture', info, amount: 250_000n, feeReceiver }),
      escrow.encode({ type: 'void', info }),
    ]
    expect(calls).toEqual([
      escrowCall('authorize', payment.info, 1_000_000n, PLACES.collector, signature),
      escrowCall('capture', payment.info, 250_000n, ...NO_FEE),
      escrowCall('void', payment.info),
    ])
    const simulate = (place: number, from = operator) =>
      world.chain.tryCall({ from: from.address, ...calls[place]! }, 500_000n)
    expect(await simulate(1)).toEqual({ succeeds: false, reason: 'InsufficientAuthorization' })
    expect(await simulate(0, receiver)).toEqual({ succeeds: false, reason: 'InvalidSender' })
    expect(await simulate(0)).toMatchObject({ succeeds: true })
    const receipts = []
    for (const call of calls) receipts.push(await world.send(call))
    expect(receipts.map(({ status }) => status)).toEqual(['success', 'success', 'success'])
    expect(receipts.flatMap((receipt) => receipt.escrow)).toEqual([
      { type: 'capture', paymentHash, amount: 250_000n },
      { type: 'void', paymentHash, amount: 750_000n },
    ])
    const { nonce } = payment
    const view = await escrow.view({ payer: payer.address, nonce, paymentHash })
    expect(view).toMatchObject({ hasCode: false, used: true, state: { collected: true, refundable: 250_000n } })
  })
})

import type { Hex } from '../../service/chain/model.ts'
import type { CheckoutView, PaymentView } from '../../service/checkouts/views.ts'
import { sentBy, usdcOf } from '../facilitator/world.ts'
import { escrowed, payEscrow, reclaim, type EscrowTerms } from '../harness/escrow.ts'
import { openWorld, until, type World } from './world.ts'

const PRICE = 500_000n
const START = 1_000_000n

describe('a payment that waits in the escrow, while the chain or this service goes away', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
  })
  afterAll(() => world.close())

  const usdc = (account: Hex) => usdcOf(world.chain, account)
  const operator = () => world.chain.accounts[0]!.address
  /** Paid, and waiting for the outcome that the test reports. */
  const waiting = async () => {
    const { id: at } = await world.sell({ capture: 'escrow', price: 0.5 })
    const payer = await world.chain.payer(START)
    // What is given to an account is in no block: without one more, a reorganisation would take it back.
    await world.chain.mine()
    const { body }: { body: CheckoutView } = await world.call('GET', `/p/${at}`)
    const terms = body.paymentRequirements!.v2 as unknown as EscrowTerms
    const signed = await payEscrow(world.chain, payer, terms, {
      now: Math.floor(world.service.clock.now().getTime() / 1_000),
    })
    const pay = { input: {}, paymentPayload: signed.body.paymentPayload }
    const { payment } = (await world.call('POST', `/p/${at}/pay`, { body: pay })).body as PaymentView
    const { id, token } = payment
    const see = async (): Promise<PaymentView['payment']> =>
      ((await world.call('GET', `/p/${at}/payments/${id}?token=${token!}`)).body as PaymentView).payment
    await until(async () => (await see()).escrow?.state === 'waiting')
    return { id, payer, see, info: signed.info }
  }
  type Waiting = Awaited<ReturnType<typeof waiting>>
  const report = (id: string, status: 'succeeded' | 'failed') =>
    world.call('POST', `/v1/payments/${id}/outcome`, { body: { status }, key: world.seller.key })
  /** Blocks and time pass until the service has made its transaction again. */
  const again = async (is: () => Promise<boolean>) => {
    await until(async () => {
      world.service.clock.forward(2_000)
      await world.chain.mine()
      return await is()
    })
  }
  const held = async ({ info }: Waiting) => (await escrowed(world.chain, info)).capturable

  test('repeats the authorization and the capture once each after reorganisations', async () => {
    const recipientBalance = await usdc(world.recipient)
    const payment = await waiting()
    const sent = await sentBy(world.chain, operator())
    await world.chain.reorg(1)
    expect(await usdc(payment.payer.address)).toBe(START)
    await again(async () => (await held(payment)) === PRICE)
    expect(await payment.see()).toMatchObject({ status: 'created', escrow: { state: 'waiting' } })
    expect(await sentBy(world.chain, operator())).toBe(sent)

    await report(payment.id, 'succeeded')
    await until(async () => {
      // The nonce that the reorganisation freed is looked for as late as fees are raised.
      world.service.clock.forward(500)
      return (await payment.see()).status === 'paid'
    })
    await world.chain.reorg(1)
    expect(await usdc(world.recipient)).toBe(recipientBalance)
    await again(async () => (await usdc(world.recipient)) === recipientBalance + PRICE)
    await world.chain.mine(4)
    expect(await payment.see()).toMatchObject({ status: 'paid', escrow: { state: 'captured' } })
    expect(await usdc(payment.payer.address)).toBe(START - PRICE)
    expect(await sentBy(world.chain, operator())).toBe(sent + 1)
  })

  test('refunds the payer once after a reorganisation removes the refund', async () => {
    const payment = await waiting()
    const sent = await sentBy(world.chain, operator())
    await report(payment.id, 'failed')
    await until(async () => (await payment.see()).status === 'failed')
    await world.chain.reorg(1)
    expect(await usdc(payment.payer.address)).toBe(START - PRICE)
    await again(async () => (await usdc(payment.payer.address)) === START)
    await world.chain.mine(4)
    expect(await payment.see()).toMatchObject({ status: 'failed', escrow: { state: 'voided' } })
    expect(await sentBy(world.chain, operator())).toBe(sent + 1)
  })

  // The last one: it stops the service.
  test('is reclaimed by the payer alone after the deadline, with the service stopped for good', async () => {
    const payment = await waiting()
    await world.service.close()
    expect(await reclaim(world.chain, payment)).toBe('0x0')
    await world.chain.call('evm_setNextBlockTimestamp', payment.info.authorizationExpiry + 1)
    await world.chain.mine()
    expect(await reclaim(world.chain, { ...payment, payer: await world.chain.payer(0n) })).toBe('0x0')
    expect(await usdc(payment.payer.address)).toBe(START - PRICE)
    expect(await reclaim(world.chain, payment)).toBe('0x1')
    expect(await usdc(payment.payer.address)).toBe(START)
    expect(await held(payment)).toBe(0n)
  })
})

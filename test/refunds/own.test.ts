import { encodeFunctionData, parseAbi, parseSignature } from 'viem'
import { newId } from '../../service/kit/ids.ts'
import { findRefundDifferences } from '../../service/refunds/store.ts'
import type { Hex } from '../../service/chain/model.ts'
import type { TestAccount } from '../harness/chain.ts'
import { until, usdcOf } from '../facilitator/world.ts'
import type { Order } from '../wallet/child/worker.ts'
import { startWorker } from '../wallet/processes.ts'
import { liveSettings, openWorld, sendCall, type Depositor, type World } from '../wallet/world.ts'
import { randomAddress, requestOwn, signed, signOwn, type ToSign } from './own.ts'
import { addSale, refund } from './sales.ts'

interface RefundView {
  id: string
  state: string
  txHash: string | null
  failure: { code: string } | null
  toSign: ToSign | null
  expiresAt: string | null
}

describe("a refund from the seller's own wallet", () => {
  let world: World
  let other: Depositor
  beforeAll(async () => {
    world = await openWorld()
    world.service.facilitator.start()
    other = await world.person()
  })
  afterAll(() => world.close())

  /** A seller whose own wallet has ten dollars, and a payment of four to it. */
  async function sell() {
    const person = await world.person()
    const wallet = await world.chain.payer(10_000_000n)
    await world.mine(1)
    const payer = randomAddress()
    const sale = await addSale(world.service, person, { payer, amount: 4_000_000, recipient: wallet.address })
    return { person, wallet, payer, sale }
  }
  type SaleToRefund = Awaited<ReturnType<typeof sell>>

  async function requested(amount?: number) {
    const it = await sell()
    return { ...it, refund: await own(it, amount) }
  }
  type Requested = Awaited<ReturnType<typeof requested>>

  async function own({ person, sale }: SaleToRefund, amount?: number) {
    const { status, body } = await refund(person, sale, { from: 'own', ...(amount === undefined ? {} : { amount }) })
    expect([status, body.refund]).toMatchObject([202, { state: 'requested', from: 'own', toSign: expect.any(Object) }])
    return body.refund as RefundView & { toSign: ToSign }
  }

  const post = ({ person, sale, refund: { id } }: Requested, signature: Hex) =>
    person.call('POST', `/v1/payments/${sale}/refunds/${id}/signature`, { body: { signature } })

  const payment = async ({ person, sale }: SaleToRefund) =>
    (await person.call('GET', `/v1/payments/${sale}`)).body.payment as Record<string, unknown> & {
      refunds: RefundView[]
    }

  /** Mines and looks, as the worker does, until every refund of the payment has ended. */
  async function ended(it: SaleToRefund) {
    for (let turn = 0; turn < 100; turn++) {
      await world.mine(1)
      world.service.clock.forward(30_000)
      await world.service.refunds.followOwn(world.service.clock.now(), new AbortController().signal)
      const now = await payment(it)
      if (now.refunds.every(({ state }) => state === 'confirmed' || state === 'failed')) return now
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error('the refund did not end')
  }

  async function sound() {
    expect(await world.service.ledger.differences()).toEqual([])
    expect(await findRefundDifferences(world.service.database.statements)).toEqual([])
  }

  /** The seller sends it without the server. */
  async function sendSelf(wallet: TestAccount, { message }: ToSign, signature: Hex, value = BigInt(message.value)) {
    const { r, s, v } = parseSignature(signature)
    const { from, to, validBefore, nonce } = message
    const args = [from, to, value, 0n, BigInt(validBefore), nonce, Number(v), r, s] as const
    const data = encodeFunctionData({ abi: TRANSFER, functionName: 'transferWithAuthorization', args })
    await world.chain.call('anvil_setBalance', wallet.address, '0xde0b6b3a7640000')
    return await sendCall(world.chain, { from: wallet.address, to: world.chain.network.usdc.address, data })
  }

  test('is signed there and sent once to the payer, and leaves the balance unchanged', async () => {
    const it = await requested(1.5)
    const { toSign } = it.refund
    expect(toSign.message).toMatchObject({ from: it.wallet.address, to: it.payer, value: '1500000', validAfter: '0' })
    const signature = await signed(toSign, it.wallet.privateKey)
    const answers = await Promise.all(Array.from({ length: 100 }, () => post(it, signature)))
    expect(new Set(answers.map(({ status, body }) => `${String(status)} ${String(body.refund?.state)}`))).toEqual(
      new Set(['202 sent']),
    )
    expect(await ended(it)).toMatchObject({
      ...{ state: 'paid', refunded: 1.5, refundable: 2.5 },
      refunds: [{ state: 'confirmed', txHash: expect.stringMatching(/^0x/), toSign: null, to: it.payer }],
    })
    expect(await usdcOf(world.chain, it.payer)).toBe(1_500_000n)
    expect(await usdcOf(world.chain, it.wallet.address)).toBe(8_500_000n)
    const rest = { ...it, refund: await own(it) }
    await post(rest, await signed(rest.refund.toSign, it.wallet.privateKey))
    expect(await ended(it)).toMatchObject({ state: 'refunded', refunded: 4 })
    expect(await usdcOf(world.chain, it.payer)).toBe(4_000_000n)
    await sound()

    // The check of the ledger compares it with what the facilitator settled.
    const { statements } = world.service.database
    await until(async () => {
      await world.mine(1)
      const open = await statements.run('SELECT 1 FROM facilitator_settlement WHERE NOT final', [])
      return open.length === 0
    })
    const { id } = rest.refund
    const changed = `UPDATE facilitator_settlement SET tx_hash = $2
      WHERE digest = (SELECT digest FROM facilitator_purchase WHERE buys = $1)`
    await statements.run(changed, [id, Buffer.alloc(32)])
    expect(await findRefundDifferences(statements)).toMatchObject([{ subject: `refund ${id}`, figure: 'settlement' }])
    const { refunds } = await payment(it)
    await statements.run(changed, [id, Buffer.from(refunds.find((each) => each.id === id)!.txHash!.slice(2), 'hex')])
    await sound()
  })

  test('refuses a signature for other terms or by another signer', async () => {
    const it = await requested(1)
    const { toSign } = it.refund
    const { privateKey: key } = it.wallet
    const stranger = await world.chain.payer(5_000_000n)
    const wrong = [
      signed(toSign, key, { value: 999_999n }),
      signed(toSign, key, { to: stranger.address }),
      signed(toSign, key, { nonce: `0x${'11'.repeat(32)}` }),
      signed(toSign, key, { validBefore: BigInt(toSign.message.validBefore) + 1n }),
      signed(toSign, key, {}, 84_532),
      signed(toSign, stranger.privateKey),
    ]
    for (const signature of await Promise.all(wrong)) {
      const { status, body } = await post(it, signature)
      expect([status, body.code, body.signer]).toEqual([400, 'refund_signature_refused', it.wallet.address])
    }
    const good = await signed(toSign, key)
    await world.chain.fund(it.wallet.address, 999_999n)
    expect((await post(it, good)).body.code).toBe('refund_wallet_short')
    const path = `/v1/payments/${it.sale}/refunds/${it.refund.id}/signature`
    expect((await other.call('POST', path, { body: { signature: good } })).body.code).toBe('payment_not_found')
    // Its own payment, with the refund of another's.
    const theirs = await addSale(world.service, other, { recipient: stranger.address })
    const crossed = `/v1/payments/${theirs}/refunds/${it.refund.id}/signature`
    expect((await other.call('POST', crossed, { body: { signature: good } })).body.code).toBe('refund_not_found')
    for (const signature of ['0x', `0x${'g'.repeat(130)}`, `0x${'00'.repeat(64)}`, `0x${'00'.repeat(9_000)}`]) {
      expect((await post(it, signature as Hex)).status).toBe(400)
    }
    expect(await payment(it)).toMatchObject({ refunds: [{ state: 'requested' }] })
    expect(await usdcOf(world.chain, it.payer)).toBe(0n)
    await sound()
  })

  test('never exceeds the payment together with refunds from the balance', async () => {
    const it = await sell()
    const owner = { userId: it.person.caller.user.id, environment: 'production' as const }
    const amount = 4_000_000n as never
    const credit = { kind: 'deposit', owner, amount, reference: null, act: 'test' } as const
    await world.service.ledger.credit({ id: `dep_${it.sale}`, ...credit })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        refund(it.person, it.sale, { from: index % 2 ? 'own' : 'balance', amount: 3 }),
      ),
    )
    expect(
      answers
        .map(({ status }) => status)
        .sort()
        .slice(0, 2),
    ).toEqual([202, 409])
    expect(await payment(it)).toMatchObject({ refunded: 3, refundable: 1 })
  })

  test('sent by the seller as well, or only by the seller, is found by its nonce and paid once', async () => {
    const it = await requested()
    const signature = await signed(it.refund.toSign, it.wallet.privateKey)
    const [hash] = await Promise.all([sendSelf(it.wallet, it.refund.toSign, signature), post(it, signature)])
    expect(await ended(it)).toMatchObject({ state: 'refunded', refunds: [{ state: 'confirmed' }] })
    expect(await usdcOf(world.chain, it.payer)).toBe(4_000_000n)
    const alone = await requested()
    const mine = await sendSelf(
      alone.wallet,
      alone.refund.toSign,
      await signed(alone.refund.toSign, alone.wallet.privateKey),
    )
    expect(await ended(alone)).toMatchObject({ state: 'refunded', refunds: [{ state: 'confirmed', txHash: mine }] })
    expect(hash).toMatch(/^0x/)
    await sound()
  })

  test('whose nonce the seller used for another transfer fails, and its amount is free again', async () => {
    const it = await requested()
    const less = { value: 1n }
    await sendSelf(it.wallet, it.refund.toSign, await signed(it.refund.toSign, it.wallet.privateKey, less), 1n)
    expect(await ended(it)).toMatchObject({
      ...{ state: 'paid', refunded: 0, refundable: 4 },
      refunds: [{ state: 'failed', failure: { code: 'authorization_canceled' }, txHash: null }],
    })
    const late = await post(it, await signed(it.refund.toSign, it.wallet.privateKey))
    expect([late.status, late.body.code]).toEqual([409, 'refund_not_signable'])
    await sound()
  })

  test('is paid again, once, after a reorganisation removes it', async () => {
    const it = await requested(2)
    await world.mine(5)
    await post(it, await signed(it.refund.toSign, it.wallet.privateKey))
    for (let turn = 0; turn < 200 && (await usdcOf(world.chain, it.payer)) === 0n; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    expect(await usdcOf(world.chain, it.payer)).toBe(2_000_000n)
    await world.service.refunds.own.step(it.refund.id)
    expect(await payment(it)).toMatchObject({ refunds: [{ state: 'sent' }] })
    await world.chain.reorg(1)
    expect(await usdcOf(world.chain, it.payer)).toBe(0n)
    expect(await ended(it)).toMatchObject({ refunds: [{ state: 'confirmed' }] })
    expect(await usdcOf(world.chain, it.payer)).toBe(2_000_000n)
    await sound()
  })

  const places = ['refund requested', 'refund signed', 'refund settled', 'refund followed']
  test.each(places)('is paid once, by the next process, when its process is killed at: %s', async (dieAt) => {
    const { person, wallet, payer, sale } = await sell()
    const operation = newId('op', world.service.clock.now())
    const environment = {
      ...(await liveSettings(world.chain)),
      ...{ LOG_LEVEL: 'silent', DATABASE_URL: world.service.testDatabase.url, DATABASE_POOL: '5' },
      ...{ DATA_DIR: '/tmp', PORT: '0' },
    }
    const { caller } = person
    const rest = { dieAt, environment, url: environment.DATABASE_URL }
    const order: Order = { work: 'own-refund', caller, sale, key: wallet.privateKey, operation, ...rest }
    const mining = setInterval(() => void world.chain.mine(1), 100)
    expect(await startWorker(order).dead).toBe('SIGKILL')
    clearInterval(mining)
    const { id } = await requestOwn(world.service, caller, sale, operation)
    await signOwn(world.service, caller, id, wallet.privateKey)
    expect(await ended({ person, wallet, payer, sale })).toMatchObject({ state: 'refunded', refunded: 4 })
    expect(await usdcOf(world.chain, payer)).toBe(4_000_000n)
    await sound()
  })

  test('is refused where the money reached a balance here, or came from an account here', async () => {
    const { person } = await sell()
    const here = await addSale(world.service, person, { recipient: person.address })
    const ran = { product: 'asset', details: { runId: 'run_one' } } as const
    const run = await addSale(world.service, person, { ...ran, recipient: world.service.wallets.treasury()! })
    const payer = randomAddress()
    await world.service.database.statements.run(
      `INSERT INTO spending_payer (address, user_id, environment, created_at) VALUES ($1, $2, 'production', now())`,
      [payer, other.caller.user.id],
    )
    const inside = await addSale(world.service, person, { payer })
    for (const sale of [here, run, inside]) {
      const { status, body } = await refund(person, sale, { from: 'own' })
      expect([status, body.code]).toEqual([409, 'refund_from_balance'])
    }
    const elsewhere = await addSale(world.service, person, { network: 'base-sepolia' })
    expect((await refund(person, elsewhere, { from: 'own' })).status).toBe(503)
    const simulated = await addSale(world.service, person, { simulated: true })
    expect((await refund(person, simulated, { from: 'own' })).body.refund).toMatchObject({
      state: 'confirmed',
      from: 'simulated',
    })
  })

  // The last: it moves the time of the chain, which every authorization signed before is judged by.
  test('that is never signed fails, but only when no late signature can pay any more', async () => {
    const it = await requested()
    const signature = await signed(it.refund.toSign, it.wallet.privateKey)
    world.service.clock.forward(31 * 60_000)
    const late = await post(it, signature)
    expect([late.status, late.body.code]).toEqual([409, 'refund_signature_late'])
    const look = () => world.service.refunds.followOwn(world.service.clock.now(), new AbortController().signal)
    world.service.clock.forward(20 * 60_000)
    await world.mine(1)
    await look()
    // By our clock it is over, by the chain's it is not: the seller could still send it.
    expect(await payment(it)).toMatchObject({ refunded: 4, refunds: [{ state: 'requested' }] })
    const { timestamp } = (await world.chain.call('eth_getBlockByNumber', 'latest', false)) as { timestamp: Hex }
    const until = Number(it.refund.toSign.message.validBefore)
    await world.chain.call('evm_setNextBlockTimestamp', Math.max(until + 60, Number(timestamp) + 1))
    await world.mine(1)
    world.service.clock.forward(60_000)
    await look()
    expect(await payment(it)).toMatchObject({ refunds: [{ state: 'requested' }] })
    await world.chain.call('evm_increaseTime', 122)
    await world.mine(1)
    world.service.clock.forward(60_000)
    await look()
    expect(await payment(it)).toMatchObject({
      ...{ state: 'paid', refunded: 0, refundable: 4 },
      refunds: [{ state: 'failed', failure: { code: 'not_sent' }, toSign: null }],
    })
    await sendSelf(it.wallet, it.refund.toSign, signature)
    expect(await usdcOf(world.chain, it.payer)).toBe(0n)
    await sound()
  })
})

const TRANSFER = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

import { randomBytes } from 'node:crypto'
import { toHex } from 'viem'
import type { Hex } from '../../service/chain/model.ts'
import { findRefundDifferences } from '../../service/refunds/store.ts'
import { payoutNonce } from '../../service/wallet/rules.ts'
import { until, usdcOf } from '../facilitator/world.ts'
import type { Order } from '../wallet/child/worker.ts'
import { startWorker } from '../wallet/processes.ts'
import { dollars, liveSettings, openWorld, send, type Depositor, type World } from '../wallet/world.ts'
import { deriveId, newId } from '../../service/kit/ids.ts'
import { addSale, refund } from './sales.ts'

describe('a refund on the chain', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ WITHDRAWAL_LIMIT_PER_DAY: '0', WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '0' })
    await send(world.chain, [{ to: world.service.wallets.treasury()!, value: 1_000_000_000n }])
    await world.mine(3)
  })
  afterAll(() => world.close())

  /** A seller with ten dollars, and a payment of four. */
  async function sell() {
    const person = await world.person()
    await send(world.chain, [{ to: person.address, value: 10_000_000n }])
    await world.mine(3)
    await world.watch()
    const payer = toHex(randomBytes(20))
    const sale = await addSale(world.service, person, { payer, amount: 4_000_000, recipient: person.address })
    return { person, payer, sale }
  }

  const payment = async (person: Depositor, sale: string) =>
    (await person.call('GET', `/v1/payments/${sale}`)).body.payment as { refunds: { endedAt: string | null }[] }

  /** Mines and takes steps, as the worker does, until the refund has ended. */
  async function ended(person: Depositor, sale: string) {
    return await until(async () => {
      await world.mine(1)
      await world.service.wallets.payouts.stepAll(new AbortController().signal)
      const now = await payment(person, sale)
      return now.refunds[0]?.endedAt != null && now
    })
  }

  async function sound() {
    await world.mine(3)
    await world.watch()
    expect(await world.service.ledger.differences()).toEqual([])
    expect(await findRefundDifferences(world.service.database.statements)).toEqual([])
    expect(await world.service.wallets.reconciling.reconcile()).toMatchObject({ difference: 0n })
    expect(await world.service.ledger.sweep()).toBe(0)
  }

  const places = ['refund requested', 'withdrawal submitted', 'withdrawal settled', 'withdrawal paid']
  test.each(places)('is paid once, by the next process, when its process is killed at: %s', async (dieAt) => {
    const { person, payer, sale } = await sell()
    const operation = newId('op', world.service.clock.now())
    const environment = {
      ...(await liveSettings(world.chain)),
      ...{ LOG_LEVEL: 'silent', DATABASE_URL: world.service.testDatabase.url, DATABASE_POOL: '5' },
      ...{ DATA_DIR: '/tmp', PORT: '0' },
    }
    const order: Order = { work: 'refund', sale, operation, dieAt, environment, url: environment.DATABASE_URL }
    // Gives the receipt its confirmations: blocks are mined while it works.
    const mining = setInterval(() => void world.chain.mine(1), 100)
    expect(await startWorker(order).dead).toBe('SIGKILL')
    clearInterval(mining)
    world.service.clock.forward(30_000)
    world.service.facilitator.start()
    const by = { amount: null, reason: null, by: 'seller', owner: null } as const
    await world.service.refunds.request({ ...by, saleId: sale }, operation)
    expect(await ended(person, sale)).toMatchObject({
      ...{ state: 'refunded', refunded: 4 },
      refunds: [{ state: 'confirmed', to: payer, txHash: expect.stringMatching(/^0x/), from: 'wallet' }],
    })
    expect(await usdcOf(world.chain, payer)).toBe(4_000_000n)
    expect(await person.balance()).toBe(6)
    await sound()
  })

  test('is paid again, once, after a reorganisation removes it', async () => {
    const { person, payer, sale } = await sell()
    world.service.facilitator.start()
    await world.mine(10)
    const { body } = await refund(person, sale, { amount: 1.5 })
    await world.service.wallets.payouts.step((body.refund as { id: string }).id)
    expect(await usdcOf(world.chain, payer)).toBe(1_500_000n)
    expect(await payment(person, sale)).toMatchObject({ refunds: [{ state: 'sent' }] })
    await world.chain.reorg(1)
    expect(await usdcOf(world.chain, payer)).toBe(0n)
    expect(await ended(person, sale)).toMatchObject({ state: 'paid', refunded: 1.5, refunds: [{ state: 'confirmed' }] })
    expect(await usdcOf(world.chain, payer)).toBe(1_500_000n)
    expect(await person.balance()).toBe(8.5)
    await sound()
  })

  /** As a refund that a restored database lost: its transfer is on the chain, and no row knows it. */
  async function lost(id: string, { to, amount, nonce }: { to: Hex; amount: bigint; nonce: Hex }): Promise<void> {
    const { service, chain } = world
    service.facilitator.start()
    const now = BigInt(Math.floor(service.clock.now().getTime() / 1_000))
    await service.wallets.treasurer.send({
      ...{ network: chain.network.name, from: service.wallets.treasury()!, to, amount },
      ...{ nonce, validBefore: now + 600n, operation: id },
    })
    // Longer ago than the clocks of a chain and a server can differ.
    await world.mine(100)
  }

  test('is not paid again where its client repeats it with the same key after a restore', async () => {
    const { outflow, database } = world.service
    const { person, payer, sale } = await sell()
    const ask = async () =>
      (await refund(person, sale, { amount: 1.5 }, { 'Idempotency-Key': 'half-back' })).body.refund as { id: string }
    // Without a hold, which a restored database would not have.
    await outflow.setPaused(true)
    const { id } = await ask()
    const [row] = await database.statements.run<{ nonce: Buffer }>('DELETE FROM refund WHERE id = $1 RETURNING nonce', [
      id,
    ])
    await database.statements.run('UPDATE sale SET refunded = 0 WHERE id = $1', [sale])
    await database.statements.run('DELETE FROM idempotent_request', [])
    await outflow.setPaused(false)
    await lost(id, { to: payer, amount: 1_500_000n, nonce: toHex(row!.nonce) })
    await ask()
    expect(await ended(person, sale)).toMatchObject({ state: 'paid', refunded: 1.5, refunds: [{ state: 'confirmed' }] })
    expect(await usdcOf(world.chain, payer)).toBe(1_500_000n)
    expect(await person.balance()).toBe(8.5)
    await sound()
  })

  test('is not paid again by a key that the restored database has, where the version before paid by its operation', async () => {
    const { service } = world
    const { person, payer, sale } = await sell()
    const owner = { userId: person.caller.user.id, environment: 'production' } as const
    const operation = newId('op', service.clock.now())
    const id = deriveId('rfd', operation)
    await lost(id, { to: payer, amount: 4_000_000n, nonce: payoutNonce(id) })
    const by = { saleId: sale, amount: null, reason: null, by: 'seller', owner } as const
    await service.refunds.request({ ...by, keyHash: randomBytes(32), mayHaveBegun: true }, operation)
    expect(await ended(person, sale)).toMatchObject({ state: 'refunded', refunds: [{ state: 'confirmed' }] })
    expect(await usdcOf(world.chain, payer)).toBe(4_000_000n)
    expect(await person.balance()).toBe(6)
    await sound()
  })

  test('fails when the treasury cannot pay for a day, returns the money, and notifies the seller', async () => {
    const { service } = world
    const { person, sale } = await sell()
    const owner = { userId: person.caller.user.id, environment: 'production' as const }
    const events = ['refund.failed', 'payment.refunded'] as const
    const endpoint = { url: 'https://8.8.8.8/hook', events, secret: null }
    await service.deliveries.endpoints.create(person.caller, endpoint, newId('op', service.clock.now()))
    const amount = dollars(5_000)
    await service.ledger.credit({ id: 'dep_plenty', kind: 'deposit', owner, amount, reference: null, act: 'test' })
    const large = await addSale(service, person, { amount: 5_000_000_000 })
    const { body } = await refund(person, large, {})
    const { id } = body.refund as { id: string }
    service.clock.forward(86_400_001)
    await world.mineNow()
    await service.wallets.payouts.step(id)
    expect(await payment(person, large)).toMatchObject({
      ...{ state: 'paid', refunded: 0, refundable: 5_000 },
      refunds: [{ state: 'failed', failure: { code: 'treasury_short' }, txHash: null }],
    })
    const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
    expect(wallet).toMatchObject({ balance: 5_010, availableBalance: 5_010 })
    await refund(person, sale, { amount: 1 })
    await ended(person, sale)
    const rows = await service.database.statements.run<{ body: string }>(
      'SELECT body FROM delivery WHERE user_id = $1 ORDER BY id',
      [owner.userId],
    )
    const payloads = rows.map(({ body: text }) => JSON.parse(text) as { event: string; data: object })
    expect(payloads).toMatchObject([
      { event: 'refund.failed', data: { id: large, refundId: id, refundFailure: 'treasury_short', refunded: 0 } },
      {
        event: 'payment.refunded',
        data: { id: sale, amount: 4, refundAmount: 1, refunded: 1, checkoutId: 'chk_none' },
      },
    ])
  })

  test('is refused for a payment on the network of test tokens: real money never goes back for them', async () => {
    const { person } = await sell()
    const sale = await addSale(world.service, person, { network: 'base-sepolia' })
    expect((await refund(person, sale, {})).body.code).toBe('refund_on_other_network')
  })
})

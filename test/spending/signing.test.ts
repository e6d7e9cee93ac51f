import { randomBytes } from 'node:crypto'
import { loadCurve } from '../../service/chain/curve.ts'
import { createSignatures } from '../../service/chain/eip712.ts'
import { loadKeccak } from '../../service/chain/keccak.ts'
import type { Hex } from '../../service/chain/model.ts'
import { NETWORKS } from '../../service/chain/networks.ts'
import { payerOf } from '../../service/chain/payer.ts'
import { newId } from '../../service/kit/ids.ts'
import { usdc } from '../../service/kit/money.ts'
import type { Payment } from '../../service/spending/model/payment.ts'
import type { Payer, PaymentStore } from '../../service/spending/ports/payment.ts'
import { createLook } from '../../service/spending/service/look.ts'
import { createSigning } from '../../service/spending/service/sign.ts'
import { createPaymentStore } from '../../service/spending/store/payments.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { agentWith, callOf, policyOf, spendingOn, type SpendingUnderTest } from './harness.ts'

/** A process without the key, a worker that has it, and the sweeper that gives back what nobody signed. */
describe('an authorization is signed by whoever has the key, or given back', () => {
  let database: TestDatabase
  let clock: TestClock
  let world: SpendingUnderTest
  let store: PaymentStore
  let payer: Payer
  let recover: (payment: Payment) => Hex | null

  beforeAll(async () => {
    database = await testDatabase()
    clock = new TestClock()
    world = spendingOn(database.statements, clock)
    store = createPaymentStore(database.statements)
    const [curve, keccak] = await Promise.all([loadCurve(), loadKeccak()])
    const signatures = createSignatures(curve, keccak)
    const key = payerOf(`0x${randomBytes(32).toString('hex')}`, { curve, keccak, signatures })
    payer = { address: key.address, checksummed: key.address, sign: key.sign.bind(key) }
    recover = ({ payer: from, payTo: to, amount: value, validBefore, nonce, signature }) =>
      signatures.recover(
        signatures.digest(NETWORKS['base-sepolia'], { from, to, value, validAfter: 0n, validBefore, nonce }),
        signature ?? '0x',
      )
  })
  afterAll(async () => {
    await database.close()
  })

  function signing(of: Payer, pause: () => Promise<void> = async () => undefined) {
    const announce = async () => undefined
    return createSigning({ store, payer: of, statements: database.statements, announce, clock, pause })
  }
  const looking = () =>
    createLook({
      store,
      ledger: world.ledger,
      chainOf: () => null,
      clock,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      confirmations: 1,
    })

  async function reserved(): Promise<Payment> {
    const agent = await agentWith(world, policyOf())
    const id = newId('pay', clock.now())
    await world.spending.reserve(callOf(agent, 250_000n, {}, id))
    const offer = {
      version: 1 as const,
      scheme: 'exact',
      network: 'base-sepolia',
      asset: '0x',
      payTo: '0x',
      amount: 250_000n,
    }
    const payment: Payment = {
      id,
      owner: agent.owner,
      agentId: agent.id,
      state: 'reserved',
      url: 'https://seller.test/',
      method: 'GET',
      requestHash: 'hash',
      maxAmount: usdc(1_000_000n),
      amount: usdc(250_000n),
      network: 'base-sepolia',
      payer: payer.address,
      payTo: '0x00000000000000000000000000000000000000aa',
      validBefore: BigInt(Math.floor(clock.now().getTime() / 1000) + 300),
      nonce: `0x${randomBytes(32).toString('hex')}`,
      signature: null,
      asked: {
        ...offer,
        timeoutSeconds: 60,
        domain: null,
        raw: { description: 'a \u0000 and a \ud800' },
        resource: null,
      },
      seenBlock: 1n,
      answerStatus: null,
      txHash: null,
      createdAt: clock.now(),
      endedAt: null,
    }
    await store.add(database.statements, payment, clock.now())
    return payment
  }

  const locked = async ({ owner }: Payment) => (await world.ledger.wallet(owner))?.funds.locked

  test('a process without the key waits for the worker’s signature, and gets that one', async () => {
    const payment = await reserved()
    const worker = signing(payer)
    const api = signing({ ...payer, sign: null }, () => worker.sign(payment.owner, payment.id))
    const signed = await api.signed(payment)
    expect(signed).toMatchObject({ state: 'signed', asked: payment.asked })
    expect(recover(signed)).toBe(payer.address)
    expect((await worker.signed(payment)).signature).toBe(signed.signature)
  })

  test('where no worker answers it is told so, and given back by the sweeper', async () => {
    const payment = await reserved()
    const left = await signing({ ...payer, sign: null }).signed(payment)
    expect(left.signature).toBeNull()
    await looking()(left)
    expect(await locked(payment)).toBe(250_000n)
    clock.forward(31_000)
    await looking()(left)
    expect(await store.find(payment.owner, payment.id)).toMatchObject({ state: 'returned', signature: null })
    expect(await locked(payment)).toBe(0n)
    // Too late to sign: nobody is ever shown it.
    expect((await signing(payer).signed(payment)).signature).toBeNull()
  })

  test('signing and giving back at the same moment: one of them happens', async () => {
    const payments = await Promise.all(Array.from({ length: 20 }, reserved))
    clock.forward(31_000)
    await Promise.all(payments.flatMap((payment) => [signing(payer).signed(payment), looking()(payment)]))
    for (const payment of payments) {
      const found = await store.find(payment.owner, payment.id)
      expect([found?.state, found?.signature === null, await locked(payment)]).toEqual(
        found?.state === 'signed' ? ['signed', false, 250_000n] : ['returned', true, 0n],
      )
    }
  })

  test('an expired one is not signed any more', async () => {
    const payment = await reserved()
    clock.forward(301_000)
    expect((await signing(payer).signed(payment)).signature).toBeNull()
  })

  test('the database refuses a second authorization, and one above the ceiling', async () => {
    const payment = await reserved()
    const change = (what: string) =>
      database.statements.run(`UPDATE spending_payment SET ${what} WHERE id = $1`, [payment.id])
    await expect(change(`nonce = '0x1'`)).rejects.toThrow('has an authorization already')
    await expect(change(`pay_to = '0x1'`)).rejects.toThrow('has an authorization already')
    await expect(change('valid_before = valid_before + 1')).rejects.toThrow('has an authorization already')
    await expect(change('max_amount = amount - 1')).rejects.toThrow('spending_payment_ceiling')
  })
})

import { randomBytes } from 'node:crypto'
import { loadCurve, loadKeccak } from '../../service/chain/curve.ts'
import { createSignatures } from '../../service/chain/eip712.ts'
import type { Hex } from '../../service/chain/model.ts'
import { NETWORKS } from '../../service/chain/networks.ts'
import { payersOf } from '../../service/chain/keys.ts'
import { NO_FAILPOINTS } from '../../service/kit/failpoints.ts'
import { newId } from '../../service/kit/ids.ts'
import { usdc, ZERO } from '../../service/kit/money.ts'
import type { Payment } from '../../service/outgoing-payments/model.ts'
import type { PayerKeys, PaymentStore, Treasury } from '../../service/outgoing-payments/ports.ts'
import { createOutflow } from '../../service/outflow/service.ts'
import { createOutflowStore } from '../../service/outflow/store.ts'
import { createEnding } from '../../service/outgoing-payments/service/end.ts'
import { createFunding } from '../../service/outgoing-payments/service/fund.ts'
import { createReconciling } from '../../service/outgoing-payments/service/reconcile.ts'
import { createSigning } from '../../service/outgoing-payments/service/sign.ts'
import { createPaymentStore } from '../../service/outgoing-payments/store/payments.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { agentWith, callOf, policyOf, budgetsOn, type BudgetsUnderTest } from '../budgets/harness.ts'

/**
 * A process without the keys, a worker that has them, and the sweeper that releases payments that were never signed.
 */
describe('an authorization is signed by a process with the keys, or returned', () => {
  let database: TestDatabase
  let clock: TestClock
  let world: BudgetsUnderTest
  let store: PaymentStore
  let keys: PayerKeys
  let recover: (payment: Payment) => Hex | null

  beforeAll(async () => {
    database = await testDatabase()
    clock = new TestClock()
    world = budgetsOn(database.statements, clock)
    store = createPaymentStore(database.statements)
    const [curve, keccak] = await Promise.all([loadCurve(), loadKeccak()])
    const signatures = createSignatures(curve, keccak)
    const payers = payersOf(`0x${randomBytes(32).toString('hex')}`, { curve, keccak, signatures })
    keys = { of: ({ userId }) => payers.of(userId) }
    recover = ({ payer: from, payTo: to, amount: value, validBefore, nonce, signature }) =>
      signatures.recover(
        signatures.digest(NETWORKS['base-sepolia'], { from, to, value, validAfter: 0n, validBefore, nonce }),
        signature ?? '0x',
      )
  })
  afterAll(async () => {
    await database.close()
  })

  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }

  function deps() {
    const outflow = createOutflow({
      store: createOutflowStore(database.statements),
      clock,
      settings: {
        paused: false,
        limits: { perDay: null, totalPerDay: null, withdrawalsPerDay: null, refundsPerDay: null, paymentsPerDay: null },
        allowList: [],
        purchasesAbove: ZERO,
      },
    })
    const common = {
      store,
      ledger: world.ledger,
      outflow,
      clock,
      log,
      failpoints: NO_FAILPOINTS,
      chainOf: () => null,
    }
    const ending = createEnding(common)
    const treasury: Treasury = {
      address: () => '0x00000000000000000000000000000000000000ff',
      available: async () => 0n,
      lacks: () => null,
      send: () => Promise.reject(new Error('nothing is sent here')),
    }
    return { ...common, ending, treasury, confirmations: 1, keys }
  }
  const funding = () => createFunding(deps())

  function signing(isWorker: boolean, pause: () => Promise<void> = async () => undefined) {
    const announce = async () => undefined
    const shared = { store, funding: funding(), statements: database.statements, announce, clock, pause }
    return createSigning({ ...shared, keys: isWorker ? keys : null, isWorker })
  }
  const measures = { count: () => undefined }
  const reconciling = () => createReconciling({ ...deps(), measures, funding: funding() })

  const spare = async ({ owner }: Payment) => (await store.findPayer(owner))?.spare

  /** A payment whose payer has enough money. */
  async function funded(): Promise<Payment> {
    const payment = await reserved()
    await store.addPayer(payment.owner, payment.payer, clock.now())
    await database.statements.run('UPDATE spending_payer SET spare = 250001 WHERE address = $1', [payment.payer])
    const terms = { from: payment.payer, validBefore: 1n, seenBlock: 1n }
    const ready = await store.fund(payment.id, terms, clock.now())
    expect([ready?.state, ready?.funding, await spare(payment)]).toEqual(['funded', null, 1n])
    return ready!
  }

  async function reserved(owner?: Payment['owner']): Promise<Payment> {
    const agent = await agentWith(world, policyOf())
    const id = newId('pay', clock.now())
    await world.budgets.reserve(callOf(agent, 250_000n, {}, id))
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
      owner: owner ?? agent.owner,
      agentId: agent.id,
      state: 'reserved',
      url: 'https://seller.test/',
      method: 'GET',
      requestHash: 'hash',
      maxAmount: usdc(1_000_000n),
      amount: usdc(250_000n),
      network: 'base-sepolia',
      payer: keys.of(owner ?? agent.owner).address,
      funding: null,
      reason: null,
      payTo: '0x00000000000000000000000000000000000000aa',
      validBefore: BigInt(Math.floor(clock.now().getTime() / 1000) + 300),
      nonce: `0x${randomBytes(32).toString('hex')}`,
      signature: null,
      offer: {
        ...offer,
        timeoutSeconds: 60,
        expires: null,
        header: 'x-payment',
        domain: null,
        raw: { description: 'a \u0000 and a \ud800' },
        resource: null,
      },
      seenBlock: 1n,
      answerStatus: null,
      receipt: null,
      txHash: null,
      createdAt: clock.now(),
      endedAt: null,
    }
    await store.add(database.statements, payment, clock.now())
    return payment
  }

  const locked = async ({ owner }: Payment) => (await world.ledger.wallet(owner))?.funds.locked

  test('a process without the keys waits for the worker’s signature, and gets that one', async () => {
    const payment = await funded()
    const worker = signing(true)
    const api = signing(false, () => worker.sign(payment.owner, payment.id))
    const signed = await api.signed(payment)
    expect(signed).toMatchObject({ state: 'signed', offer: payment.offer })
    expect(recover(signed)).toBe(payment.payer)
    expect((await worker.signed(payment)).signature).toBe(signed.signature)
  })

  test('a process without the keys learns the account’s address from the worker', async () => {
    const { owner } = await agentWith(world, policyOf())
    const api = signing(false, () => signing(true).sign(owner, null))
    const expected = { address: keys.of(owner).address, spare: 0n }
    expect(await api.payerOf(owner)).toEqual(expected)
    expect(await signing(true).payerOf(owner)).toEqual(expected)
    expect(keys.of({ userId: 'somebody else', environment: 'sandbox' }).address).not.toBe(expected.address)
  })

  test('stays unsigned without a worker, and its money is returned by the sweeper', async () => {
    const payment = await reserved()
    const left = await signing(false).signed(payment)
    expect(left.signature).toBeNull()
    await reconciling().reconcile(left)
    expect(await locked(payment)).toBe(250_000n)
    clock.forward(61_000)
    await reconciling().reconcile(left)
    expect(await store.find(payment.owner, payment.id)).toMatchObject({
      state: 'returned',
      reason: 'not_signed',
      signature: null,
    })
    expect(await locked(payment)).toBe(0n)
    // Too late to sign: the authorization is never shown to a seller.
    expect((await signing(true).signed(left)).signature).toBeNull()
  })

  test('concurrent signing and returning end in one of both, and spare money counts once', async () => {
    const payments = await Promise.all(Array.from({ length: 20 }, funded))
    clock.forward(61_000)
    await Promise.all(
      payments.flatMap((payment) => [
        signing(true).signed(payment),
        reconciling().reconcile(payment),
        reconciling().reconcile(payment),
      ]),
    )
    for (const payment of payments) {
      const found = await store.find(payment.owner, payment.id)
      expect([found?.state, found?.signature === null, await locked(payment), await spare(payment)]).toEqual(
        found?.state === 'signed' ? ['signed', false, 250_000n, 1n] : ['returned', true, 0n, 250_001n],
      )
    }
  })

  test('an expired one is not signed any more', async () => {
    const payment = await funded()
    clock.forward(301_000)
    expect((await signing(true).signed(payment)).signature).toBeNull()
  })

  test('two concurrent payments of one account share spare money without counting it twice', async () => {
    const one = await reserved()
    const other = await reserved(one.owner)
    await store.addPayer(one.owner, one.payer, clock.now())
    await database.statements.run('UPDATE spending_payer SET spare = 300000 WHERE address = $1', [one.payer])
    const terms = { from: '0x00000000000000000000000000000000000000ff' as const, validBefore: 9n, seenBlock: 1n }
    const done = await Promise.all([one, other, one].map(({ id }) => store.fund(id, terms, clock.now())))
    const needed = done.flatMap((payment) => (payment === null ? [] : [payment.funding?.amount ?? 0n]))
    expect(needed.toSorted()).toEqual([0n, 200_000n])
    expect(await spare(one)).toBe(0n)
  })

  test('the database refuses a second authorization, and one above the ceiling', async () => {
    const payment = await reserved()
    const change = (what: string) =>
      database.statements.run(`UPDATE spending_payment SET ${what} WHERE id = $1`, [payment.id])
    await expect(change(`nonce = '0x1'`)).rejects.toThrow('has an authorization already')
    await expect(change(`pay_to = '0x1'`)).rejects.toThrow('has an authorization already')
    await expect(change('valid_before = valid_before + 1')).rejects.toThrow('has an authorization already')
    const sent = await funded()
    await expect(
      database.statements.run('UPDATE spending_payment SET funding = 1 WHERE id = $1', [sent.id]),
    ).rejects.toThrow('has an authorization already')
    await expect(change('max_amount = amount - 1')).rejects.toThrow('spending_payment_ceiling')
  })
})

import { randomUUID } from 'node:crypto'
import type { Hex } from '../../service/chain/model.ts'
import { deriveId, type Id } from '../../service/kit/ids.ts'
import type { CheckoutView, PaymentView } from '../../service/checkouts/views.ts'
import type { TestAccount } from '../harness/chain.ts'
import { usdcOf } from '../facilitator/world.ts'
import { openWorld, until, type World } from './world.ts'

/** A payment, or why it was refused. */
interface Paid {
  status: number
  body: PaymentView
}

interface Signed {
  paymentPayload: { payload: { authorization: { nonce: Hex } } }
}

/** `capture: onSuccess`: the workflow runs first, and its outcome decides whether anything is charged. */
describe('a checkout that charges only after the success', () => {
  let world: World
  let chk: string
  /** Where the process ends next. */
  let ends: string | null = null
  const reach = (place: string): void => {
    if (place !== ends) return
    ends = null
    throw new Error('the process ends here')
  }

  beforeAll(async () => {
    const environment = { SETTLE_CONFIRMATIONS: '1' }
    world = await openWorld({ chain: true, environment, hooks: { failpoints: { reach } } })
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.forget()
    world.workflow.answers({ delivery: { status: 200, body: '{"score":97}' } })
    chk = await sell()
  })

  const sell = async (terms: object = {}): Promise<string> =>
    (await world.sell({ capture: 'onSuccess', responseMode: 'lastNode', price: 0.5, ...terms })).id
  const pay = async (payer: TestAccount, at = chk): Promise<Paid> =>
    await world.call('POST', `/p/${at}/pay`, { body: { input: {}, paymentPayload: await world.sign(payer, at) } })
  /** With an authorization until then, and of this nonce where a test wants one. */
  const payUntil = async (payer: TestAccount, at: string, end: { seconds: number; nonce?: Hex }): Promise<Paid> => {
    const { body }: { body: CheckoutView } = await world.call('GET', `/p/${at}`)
    const { v2 } = body.paymentRequirements!
    const validBefore = BigInt(Math.floor(world.service.clock.now().getTime() / 1000) + end.seconds)
    const { signature, ...terms } = await payer.authorize(world.chain.network, v2.payTo, {
      ...{ value: BigInt(v2.amount), validBefore, ...(end.nonce === undefined ? {} : { nonce: end.nonce }) },
    })
    const authorization = Object.fromEntries(Object.entries(terms).map(([name, value]) => [name, String(value)]))
    const paymentPayload = { x402Version: 2, accepted: v2, payload: { signature, authorization } }
    return await world.call('POST', `/p/${at}/pay`, { body: { input: {}, paymentPayload } })
  }
  /** Another authorization with the nonce of the last one: the chain can use only one of them. */
  const sameNonce = async (payer: TestAccount, at: string): Promise<unknown> => {
    const [row] = await world.service.testDatabase.statements.run<{ request: Signed }>(
      'SELECT request FROM sale WHERE subject = $1 ORDER BY id DESC LIMIT 1',
      [at],
    )
    const { nonce } = row!.request.paymentPayload.payload.authorization
    return await payUntil(payer, at, { seconds: 30_000, nonce })
  }
  const newPayer = (balance = 1_000_000n) => world.chain.payer(balance)
  const see = async (id: string, token: string | null, at = chk): Promise<PaymentView> =>
    (await world.call('GET', `/p/${at}/payments/${id}${token === null ? '' : `?token=${token}`}`)).body as PaymentView
  const ended = (id: string, token: string | null, at = chk) =>
    until(async () => {
      const view = await see(id, token, at)
      return ['paid', 'failed'].includes(view.payment.status) ? view : null
    })
  /** The sweeper, when the sale is due for this look. */
  const lookAgain = (look = 1): Promise<void> =>
    world.service.sales.sales(new Date(world.service.clock.now().getTime() + look * 90_000))
  /** Half an hour: the authorization is valid for longer. */
  const LOOKS = 20
  const longAgo = (id: string): Promise<unknown> =>
    world.service.testDatabase.statements.run(
      "UPDATE sale SET created_at = created_at - interval '3 hours' WHERE id = $1",
      [id],
    )
  const report = (id: string, body: object, key = world.seller.key) =>
    world.call('POST', `/v1/payments/${id}/outcome`, { body, key })

  test('a success is charged once, and its answer is shown only then', async () => {
    const payer = await newPayer()
    const unpaid = await world.call('POST', `/p/${chk}`, { body: {} })
    expect(unpaid).toMatchObject({ status: 402, body: { capture: 'onSuccess', expires: expect.any(String) } })
    const before = await usdcOf(world.chain, world.recipient)
    const { status, body } = await pay(payer)
    expect(status).toBe(202)
    expect(body.payment).toMatchObject({ status: 'created', capture: 'onSuccess', txHash: null })
    const { id, token } = body.payment
    const paid = await ended(id, token)
    expect(paid).toMatchObject({
      payment: { status: 'paid', txHash: expect.stringMatching(/^0x/), deadline: null },
      delivery: { status: 'delivered', answer: '{"score":97}' },
    })
    expect(await usdcOf(world.chain, world.recipient)).toBe(before + 500_000n)
    expect(world.workflow.deliveries).toHaveLength(1)
    const [delivery] = world.workflow.deliveries
    expect(delivery!.json).toMatchObject({
      payment: { txHash: null, amount: 0.5 },
      metadata: { paymentId: id, capture: 'onSuccess', deadline: expect.any(String) },
    })
    expect((await see(id, null)).delivery).toMatchObject({ answer: null })
  })

  test('a failure charges nothing, and its authorization never buys anything again', async () => {
    world.workflow.answers({ delivery: { status: 410, body: '{"score":1}' } })
    const payer = await newPayer()
    const signed = { input: {}, paymentPayload: await world.sign(payer, chk) }
    const { body }: Paid = await world.call('POST', `/p/${chk}/pay`, { body: signed })
    const failed = await ended(body.payment.id, body.payment.token)
    expect(failed).toMatchObject({
      payment: { status: 'failed', reason: { code: 'workflow_failed' } },
      delivery: { answer: null },
    })
    world.workflow.answers({ delivery: { status: 200, body: '{}' } })
    const again = await world.call('POST', `/p/${chk}/pay`, { body: signed })
    expect(again.status).toBe(409)
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
    const delivery = String(body.delivery?.id)
    const redelivered = await world.seller.call('POST', `/v1/deliveries/${delivery}/redeliver`)
    expect(redelivered).toMatchObject({ status: 409, body: { code: 'not_charged' } })
    expect(world.workflow.deliveries).toHaveLength(1)
    // Orders that fail do not mean that the workflow is gone: the checkout goes on selling.
    world.workflow.answers({ delivery: { status: 410, body: '' } })
    for (let order = 0; order < 3; order++) {
      const { payment } = (await pay(await newPayer())).body
      await ended(payment.id, payment.token)
    }
    expect((await world.seller.call('GET', `/v1/checkouts/${chk}`)).body.checkout.status).toBe('active')
  })

  test('a workflow that reports later is charged when its seller reports the success', async () => {
    const at = await sell({ responseMode: 'immediately' })
    const payer = await newPayer()
    const { id, token } = (await pay(payer, at)).body.payment
    await until(async () => (await see(id, token, at)).delivery?.status === 'delivered')
    expect((await see(id, token, at)).payment.status).toBe('created')
    const stranger = await world.service.person()
    expect(await report(id, { status: 'succeeded' }, stranger.key)).toMatchObject({ status: 404 })
    const wrong = await report(id, { status: 'done', answer: 5 })
    expect(wrong).toMatchObject({ status: 400, body: { details: { status: expect.any(String) } } })
    const reported = await report(id, { status: 'succeeded', answer: '# Done' })
    expect(reported).toMatchObject({ status: 200, body: { delivery: { answer: '# Done' } } })
    expect(await ended(id, token, at)).toMatchObject({ payment: { status: 'paid' }, delivery: { answer: '# Done' } })
    expect(await report(id, { status: 'succeeded', answer: '# Done' })).toMatchObject({ status: 200 })
    expect(await report(id, { status: 'failed' })).toMatchObject({ status: 409, body: { code: 'outcome_known' } })
  })

  test('the reason of a reported failure is shown to the buyer only', async () => {
    const at = await sell({ responseMode: 'immediately' })
    const payer = await newPayer()
    const { id, token } = (await pay(payer, at)).body.payment
    await report(id, { status: 'failed', answer: 'The site could not be reached.' })
    expect((await see(id, token, at)).payment.reason).toEqual({
      code: 'workflow_failed',
      sentence: 'The site could not be reached. Nothing was charged.',
    })
    expect((await see(id, null, at)).payment.reason?.sentence).not.toContain('site')
    expect(await report(id, { status: 'succeeded' })).toMatchObject({ status: 409, body: { code: 'outcome_known' } })
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })

  test('fails a payment at the deadline when its workflow reports no outcome', async () => {
    const at = await sell({ responseMode: 'immediately', runSeconds: 60 })
    const payer = await newPayer()
    const { id, token } = (await pay(payer, at)).body.payment
    world.service.clock.forward(59_000)
    await world.service.checkouts.sweepers.held()
    expect((await see(id, token, at)).payment.status).toBe('created')
    world.service.clock.forward(7_000)
    await world.service.checkouts.sweepers.held()
    // The service's own sweeper may have taken it at the same moment.
    const payment = await until(async () => {
      const seen = (await see(id, token, at)).payment
      return seen.status !== 'created' && seen
    })
    expect(payment).toMatchObject({ status: 'failed', reason: { code: 'workflow_timeout' } })
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })

  test('an agent that buys by x402 waits for the result', async () => {
    const payer = await newPayer()
    const payment = Buffer.from(JSON.stringify(await world.sign(payer, chk))).toString('base64')
    const purchase = await world.call('POST', `/p/${chk}`, { body: {}, headers: { 'payment-signature': payment } })
    expect(purchase).toMatchObject({
      status: 200,
      body: { payment: { status: 'paid' }, delivery: { answer: '{"score":97}' } },
    })
  })

  test('a balance covers one open order, and a wallet that left work unpaid must pay first', async () => {
    const at = await sell({ responseMode: 'immediately' })
    const payer = await newPayer(500_000n)
    const { id, token } = (await pay(payer, at)).body.payment
    const second = await pay(payer, at)
    await world.chain.fund(payer.address, 5_000_000n)
    expect(await sameNonce(payer, at)).toMatchObject({ status: 409, body: { code: 'authorization_used' } })
    expect(second).toMatchObject({ status: 402, body: { reason: 'invalid_exact_evm_insufficient_balance' } })
    await world.chain.fund(payer.address, 0n)
    await report(id, { status: 'succeeded', answer: 'secret' })
    await longAgo(id)
    await lookAgain()
    const unpaid = await ended(id, token, at)
    expect(unpaid).toMatchObject({
      payment: { status: 'failed', reason: { code: 'invalid_exact_evm_insufficient_balance' } },
      delivery: { answer: null },
    })
    await world.chain.fund(payer.address, 1_000_000n)
    const banned = await pay(payer, at)
    expect(banned).toMatchObject({ status: 403, body: { code: 'payer_defaulted' } })
    const first = (await world.sell({ price: 0.5 })).id
    expect((await pay(payer, first)).status).toBe(200)
  })

  test('finished work that its wallet cannot pay is charged once it can', async () => {
    const at = await sell({ responseMode: 'immediately' })
    const payer = await newPayer(500_000n)
    const { id, token } = (await pay(payer, at)).body.payment
    await world.chain.fund(payer.address, 0n)
    await report(id, { status: 'succeeded', answer: 'secret' })
    await lookAgain()
    expect(await see(id, token, at)).toMatchObject({
      payment: { status: 'settling', reason: { code: 'invalid_exact_evm_insufficient_balance' } },
      delivery: { answer: null },
    })
    // Nothing more is worked for with the same money meanwhile.
    await world.chain.fund(payer.address, 900_000n)
    expect(await pay(payer, at)).toMatchObject({ status: 402 })
    // One look sends it, and a later one finds it; a look beside one that is still under way does nothing.
    let look = 1
    const charged = await until(async () => {
      if (look < LOOKS) await lookAgain(++look)
      const view = await see(id, token, at)
      return view.payment.status === 'settling' ? null : view
    })
    expect(await usdcOf(world.chain, payer.address)).toBe(400_000n)
    expect(charged).toMatchObject({
      payment: { status: 'paid', reason: null },
      delivery: { answer: 'secret' },
    })
  })

  test('finished work that was not paid until its authorization ended says what its wallet lacked', async () => {
    const at = await sell({ responseMode: 'immediately', runSeconds: 10 })
    const payer = await newPayer(500_000n)
    const { id, token } = (await payUntil(payer, at, { seconds: 400 })).body.payment
    await world.chain.fund(payer.address, 0n)
    await report(id, { status: 'succeeded', answer: 'secret' })
    world.service.clock.forward(500_000)
    await world.chain.call('evm_increaseTime', 500)
    await world.chain.call('evm_mine')
    await lookAgain()
    expect(await ended(id, token, at)).toMatchObject({
      payment: { status: 'failed', reason: { code: 'invalid_exact_evm_insufficient_balance' } },
    })
    await world.chain.fund(payer.address, 500_000n)
    expect(await pay(payer, at)).toMatchObject({ status: 403, body: { code: 'payer_defaulted' } })
  })

  test('a wallet has at most 20 unpaid purchases in progress', async () => {
    const at = await sell({ responseMode: 'immediately', price: 0.01 })
    const payer = await newPayer(5_000_000n)
    for (let order = 0; order < 20; order++) expect((await pay(payer, at)).status).toBe(202)
    expect(await pay(payer, at)).toMatchObject({ status: 429, body: { code: 'purchases_open', limit: 20 } })
  })

  test('a payment whose workflow fails is refunded by itself, with refundOnFailure', async () => {
    await world.seller.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
    const rule = { capture: 'onPayment', refundOnFailure: true }
    const refundsOf = async (id: string): Promise<unknown> =>
      (await world.seller.call('GET', `/v1/payments/${id}`)).body.payment.refunds
    const unreached = await sell(rule)
    world.workflow.answers({ delivery: { status: 410, body: '' } })
    const first = (await pay(await newPayer(), unreached)).body.payment
    const back = [{ amount: 0.5, reason: 'The workflow failed.', id: expect.stringMatching(/^rfd_/) as unknown }]
    await until(async () => JSON.stringify(await refundsOf(first.id)) !== '[]')
    expect(await refundsOf(first.id)).toMatchObject(back)

    world.workflow.answers({})
    const reported = await sell({ ...rule, responseMode: 'immediately' })
    const second = (await pay(await newPayer(), reported)).body.payment
    await ended(second.id, second.token, reported)
    expect(await report(second.id, { status: 'failed', answer: 'No such site.' })).toMatchObject({ status: 200 })
    expect(await refundsOf(second.id)).toMatchObject(back)

    const answered = (await pay(await newPayer(), reported)).body.payment
    await ended(answered.id, answered.token, reported)
    expect((await report(answered.id, { status: 'succeeded', answer: 'Done.' })).status).toBe(200)
    world.workflow.answers({ delivery: { status: 410, body: '' } })
    const delivery = deriveId('dlv', answered.id as Id<'pay'>)
    expect((await world.seller.call('POST', `/v1/deliveries/${delivery}/redeliver`)).status).toBe(202)
    await until(async () => (await see(answered.id, answered.token, reported)).delivery?.status === 'stopped')
    const done = `SELECT 1 FROM outbox WHERE topic = 'checkouts.outcome' AND payload ->> 'paymentId' = $1 AND done_at IS NOT NULL`
    const { statements } = world.service.testDatabase
    await until(async () => (await statements.run(done, [answered.id])).length > 0)
    world.workflow.answers({})
    expect(await refundsOf(answered.id)).toEqual([])

    const cutOff = (await pay(await newPayer(), reported)).body.payment
    await ended(cutOff.id, cutOff.token, reported)
    ends = 'sale reported'
    expect(await report(cutOff.id, { status: 'failed' })).toMatchObject({ status: 500 })
    await until(async () => JSON.stringify(await refundsOf(cutOff.id)) !== '[]')
    expect(await refundsOf(cutOff.id)).toMatchObject(back)

    const without = await sell({ capture: 'onPayment' })
    const third = (await pay(await newPayer(), without)).body.payment
    await ended(third.id, third.token, without)
    await report(third.id, { status: 'failed' })
    expect(await refundsOf(third.id)).toEqual([])
  })

  test('the workflow decides in test mode, too', async () => {
    const at = await sell({ testMode: true })
    const simulate = async (outcome?: string) => {
      const headers = { 'idempotency-key': randomUUID() }
      const body = { input: {}, simulate: true, ...(outcome === undefined ? {} : { outcome }) }
      const { payment } = ((await world.call('POST', `/p/${at}/pay`, { body, headers })) as Paid).body
      return await ended(payment.id, payment.token, at)
    }
    expect(await simulate()).toMatchObject({
      payment: { status: 'paid', txHash: expect.stringMatching(/^simulated:/) },
      delivery: { answer: '{"score":97}' },
    })
    expect(await simulate('delivery_failed')).toMatchObject({ payment: { status: 'failed' } })
    expect(await simulate('insufficient_funds')).toMatchObject({ payment: { status: 'failed' } })
  })

  test('the price and the run time are limited', async () => {
    const create = (terms: object) =>
      world.seller.call('POST', '/v1/checkouts', {
        body: {
          callbackUrl: world.workflow.url,
          product: { name: 'Audit' },
          network: 'base-sepolia',
          recipient: world.recipient,
          price: 1,
          capture: 'onSuccess',
          ...terms,
        },
      })
    for (const [terms, field] of [
      [{ price: 100.000001 }, 'price'],
      [{ runSeconds: 3_601 }, 'runSeconds'],
      [{ runSeconds: 9 }, 'runSeconds'],
      [{ refundOnFailure: true }, 'refundOnFailure'],
      [{ capture: 'never' }, 'capture'],
    ] as const) {
      expect(await create(terms)).toMatchObject({ status: 400, body: { details: { [field]: expect.any(String) } } })
    }
    const created = await create({ runSeconds: 600 })
    const { body } = await world.call('GET', `/p/${String(created.body.checkout.id)}`)
    expect(body.paymentRequirements.v2.maxTimeoutSeconds).toBe(900)
  })
})

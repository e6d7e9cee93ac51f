import type { Hex } from '../../service/chain/model.ts'
import { ESCROW } from '../../service/chain/networks.ts'
import type { CheckoutView, PaymentView } from '../../service/checkouts/views.ts'
import { usdcOf } from '../facilitator/world.ts'
import type { TestAccount } from '../harness/chain.ts'
import {
  escrowBody,
  escrowCall,
  escrowed,
  escrowTerms,
  payEscrow,
  reclaim,
  seller,
  type EscrowTerms,
} from '../harness/escrow.ts'
import { sendMcp, type Json } from '../harness/mcp.ts'
import { walletKeys } from '../wallet/world.ts'
import { openWorld, until, type World } from './world.ts'

interface Paid {
  status: number
  body: PaymentView
}

const PRICE = 500_000n
const START = 1_000_000n

/** `capture: escrow`: the money waits in a contract while the workflow runs, and its outcome decides who gets it. */
describe('a checkout whose payments wait in the escrow', () => {
  let world: World
  let chk: string

  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: { ...(await walletKeys()), SETTLE_CONFIRMATIONS: '1' } })
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.forget()
    world.workflow.answers({ delivery: { status: 200, body: '{"score":97}' } })
    chk = await sell()
  })

  const sell = async (terms: object = {}): Promise<string> =>
    (await world.sell({ capture: 'escrow', responseMode: 'lastNode', price: 0.5, ...terms })).id
  const termsAt = async (at = chk): Promise<EscrowTerms> => {
    const { body }: { body: CheckoutView } = await world.call('GET', `/p/${at}`)
    return body.paymentRequirements!.v2 as unknown as EscrowTerms
  }
  const now = () => Math.floor(world.service.clock.now().getTime() / 1_000)
  const sign = async (payer: TestAccount, terms?: EscrowTerms, boundTo?: Hex) =>
    await payEscrow(world.chain, payer, terms ?? (await termsAt()), {
      now: now(),
      ...(boundTo === undefined ? {} : { boundTo }),
    })
  type Signed = Awaited<ReturnType<typeof sign>>
  const pay = async ({ body }: Signed, at = chk, more: object = {}): Promise<Paid> =>
    await world.call('POST', `/p/${at}/pay`, { body: { input: {}, paymentPayload: body.paymentPayload, ...more } })
  /** As an account with a key, at a seller who is paid into a wallet here. */
  const buyWithKey = async (at: string, key: string): Promise<Json> => {
    const message = { method: 'tools/call', params: { name: 'seo-audit', arguments: {} } }
    const headers = { authorization: `Bearer ${key}` }
    return (await sendMcp(`${world.service.origin}/p/${at}/mcp`, message, headers))['result'] as Json
  }
  const newPayer = () => world.chain.payer(START)
  const see = async (id: string, token: string | null, at = chk): Promise<PaymentView> =>
    (await world.call('GET', `/p/${at}/payments/${id}${token === null ? '' : `?token=${token}`}`)).body as PaymentView
  const ended = (id: string, token: string | null, at = chk) =>
    until(async () => {
      const view = await see(id, token, at)
      return ['paid', 'failed'].includes(view.payment.status) ? view : null
    })
  const report = (id: string, body: object) =>
    world.call('POST', `/v1/payments/${id}/outcome`, { body, key: world.seller.key })
  /** With a workflow whose outcome the test reports. */
  const waiting = async (boundTo?: Hex) => {
    const at = await sell({ responseMode: 'immediately' })
    const payer = await newPayer()
    const signed = await sign(payer, await termsAt(at), boundTo)
    const { body } = await pay(signed, at)
    const { id, token } = body.payment
    await until(async () => (await see(id, token, at)).payment.escrow?.state === 'waiting')
    return { at, payer, signed, id, token }
  }
  const held = ({ info }: Signed) => escrowed(world.chain, info)
  /** What came of this test's checkout: one of the test before may still come. */
  const ordered = () => world.workflow.deliveries.filter(({ json }) => json.metadata.checkoutId === chk)
  const usdc = (account: Hex) => usdcOf(world.chain, account)

  test('an agent pays, waits, and gets the result once the seller is paid', async () => {
    const payer = await newPayer()
    const before = await usdc(world.recipient)
    const payment = Buffer.from(JSON.stringify((await sign(payer)).body.paymentPayload)).toString('base64')
    const purchase = await world.call('POST', `/p/${chk}`, { body: {}, headers: { 'payment-signature': payment } })
    expect(purchase).toMatchObject({
      status: 200,
      body: {
        payment: { status: 'paid', capture: 'escrow', escrow: { state: 'captured', contract: ESCROW.address } },
        delivery: { status: 'delivered', answer: '{"score":97}' },
      },
    })
    expect(await usdc(payer.address)).toBe(START - PRICE)
    expect(await usdc(world.recipient)).toBe(before + PRICE)
    const { statements } = world.service.database
    const sales = await statements.run('SELECT method::text, facilitator FROM sale WHERE subject = $1', [chk])
    expect(sales).toEqual([{ method: 'auth-capture', facilitator: null }])
    expect(ordered()).toHaveLength(1)
    expect(world.workflow.deliveries[0]!.json).toMatchObject({
      payment: { txHash: null },
      metadata: { capture: 'escrow', deadline: expect.any(String) },
    })
  })

  test('is offered alone, with fresh deadlines, and not to clients without escrow support', async () => {
    const { headers, body } = await world.call('POST', `/p/${chk}`, { body: {} })
    const { accepts } = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()) as {
      accepts: EscrowTerms[]
    }
    expect(accepts).toHaveLength(1)
    expect(accepts[0]).toMatchObject({ scheme: 'auth-capture', payTo: world.recipient })
    expect(accepts[0]!.extra.captureDeadline).toBeGreaterThanOrEqual(now() + 180 + 3_600)
    expect((body as { accepts: unknown[] }).accepts).toEqual([])
    expect(headers.get('www-authenticate')).toBeNull()
    const payer = await newPayer()
    const exact = await world.sell({ price: 0.5 })
    const paymentPayload = await world.sign(payer, exact.id)
    const refused = await world.call('POST', `/p/${chk}/pay`, { body: { input: {}, paymentPayload } })
    expect(refused).toMatchObject({ status: 402 })
    expect(await usdc(payer.address)).toBe(START)
  })

  test('a failure returns the whole payment, and its result is never shown', async () => {
    world.workflow.answers({ delivery: { status: 410, body: '{"score":1}' } })
    const payer = await newPayer()
    const signed = await sign(payer)
    const { body } = await pay(signed)
    const failed = await ended(body.payment.id, body.payment.token)
    expect(failed).toMatchObject({
      payment: {
        status: 'failed',
        txHash: null,
        reason: { code: 'workflow_failed' },
        escrow: { state: 'voided', voidedTx: expect.stringMatching(/^0x/) },
      },
      delivery: { answer: null },
    })
    expect(await usdc(payer.address)).toBe(START)
    expect(await held(signed)).toEqual({ collected: true, capturable: 0n, refundable: 0n })
    expect(await pay(signed, chk, { token: body.payment.token })).toMatchObject({
      body: { payment: { status: 'failed' } },
    })
  })

  test('voids a payment at the deadline when its workflow reports no outcome', async () => {
    const { at, payer, id, token } = await waiting()
    expect(await usdc(payer.address)).toBe(START - PRICE)
    world.service.clock.forward(181_000)
    await world.service.checkouts.sweepers.held()
    expect((await ended(id, token, at)).payment).toMatchObject({
      reason: { code: 'workflow_timeout' },
      escrow: { state: 'voided' },
    })
    expect(await usdc(payer.address)).toBe(START)
  })

  test('of a hundred concurrent outcomes one decides', async () => {
    const { at, payer, id, token } = await waiting()
    const outcomes = Array.from({ length: 100 }, (_, n) => ({ status: n % 2 === 0 ? 'succeeded' : 'failed' }))
    const answers = await Promise.all(outcomes.map((outcome) => report(id, outcome)))
    const { payment } = await ended(id, token, at)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
    expect(await usdc(payer.address)).toBe(payment.status === 'paid' ? START - PRICE : START)
  })

  test('refuses an authorization seen on chain unless it comes with the payment’s token', async () => {
    const { at, signed, id, token } = await waiting()
    await report(id, { status: 'succeeded', answer: 'secret' })
    await ended(id, token, at)
    expect(await pay(signed, at)).toMatchObject({ status: 409 })
    const other = await sell()
    expect(await pay(signed, other)).toMatchObject({ status: 409 })
    const held = await waiting()
    expect(await pay(held.signed, held.at)).toMatchObject({ status: 409 })
    expect(await pay(held.signed, held.at, { token: held.token })).toMatchObject({ status: 202 })
  })

  test('one authorization sent for many orders at once buys one', async () => {
    const payer = await newPayer()
    const signed = await sign(payer)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, who) =>
        world.call('POST', `/p/${chk}/pay`, {
          body: { input: {}, paymentPayload: signed.body.paymentPayload },
          headers: { 'idempotency-key': `escrow-many-${String(who)}-${signed.nonce}` },
        }),
      ),
    )
    // 503: the chain has not answered yet, so nothing is decided.
    expect(answers.every(({ status }) => status < 500 || status === 503)).toBe(true)
    await until(async () => (await usdc(payer.address)) === START - PRICE)
    await until(() => ordered().length > 0)
    const [row] = await world.service.testDatabase.statements.run<{ n: bigint }>(
      'SELECT count(*) AS n FROM sale WHERE payer = $1',
      [payer.address],
    )
    expect(row!.n).toBe(1n)
    expect(ordered()).toHaveLength(1)
  })

  test('terms that differ from the offer are refused before money moves', async () => {
    const offered = await termsAt()
    const payer = await newPayer()
    const stranger = (await newPayer()).address
    const { extra } = offered
    const at = (captureDeadline: number) => ({ ...extra, captureDeadline, refundDeadline: captureDeadline })
    const cases: EscrowTerms[] = [
      { ...offered, payTo: stranger },
      { ...offered, amount: '499999' },
      { ...offered, extra: { ...extra, captureAuthorizer: stranger } },
      { ...offered, extra: { ...extra, receiverAuthorizer: stranger } },
      { ...offered, extra: { ...extra, feeRecipient: stranger, maxFeeBps: 9_999 } },
      { ...offered, extra: { ...extra, refundDeadline: extra.captureDeadline + 1 } },
      { ...offered, extra: at(extra.captureDeadline - 400) },
      { ...offered, extra: at(extra.captureDeadline + 400) },
      escrowTerms(world.chain, { operator: extra.captureAuthorizer, receiver: offered.payTo as Hex }, { now: now() }),
    ]
    for (const terms of cases) expect(await pay(await sign(payer, terms))).toMatchObject({ status: 402 })
    const dearer = await sell({ price: 0.9 })
    expect(await pay(await sign(payer), dearer)).toMatchObject({ status: 402 })
    expect(await usdc(payer.address)).toBe(START)
    expect(ordered()).toHaveLength(0)
  })

  test("a waiting payment cannot be captured or voided by another signer's message", async () => {
    const { signed } = await waiting()
    const all = { capturable: PRICE, refundable: 0n }
    const by = seller(world.chain, world.chain.accounts[2]!, world.chain.accounts[0]!.address)
    for (const payload of [await by.capture(signed, PRICE, all), await by.void(signed)]) {
      const body = { ...signed.body, paymentPayload: { ...signed.body.paymentPayload, payload } }
      expect((await world.call('POST', '/facilitator/settle', { body })).body).toMatchObject({ success: false })
    }
    expect(await held(signed)).toMatchObject(all)
  })

  test('a payer who bound the payment to their own key cannot void it while the seller works', async () => {
    const thief = world.chain.accounts[2]!
    const { at, payer, signed, id, token } = await waiting(thief.address)
    const all = { capturable: PRICE, refundable: 0n }
    const by = seller(world.chain, thief, world.chain.accounts[0]!.address)
    const offered = signed.body.paymentPayload.accepted
    const terms = { ...offered, extra: { ...offered.extra, receiverAuthorizer: thief.address } }
    const messages = [
      await by.void(signed),
      await by.capture(signed, 100n, all, { voids: true }),
      await by.capture(signed, PRICE, all),
    ]
    for (const payload of messages) {
      for (const door of ['verify', 'settle']) {
        const { body } = await world.call('POST', `/facilitator/${door}`, { body: escrowBody(terms, payload) })
        expect(body.invalidReason ?? body.errorReason).toBe('invalid_auth_capture_evm_lifecycle_not_relayed')
      }
    }
    expect(await held(signed)).toMatchObject(all)
    await report(id, { status: 'succeeded' })
    expect((await ended(id, token, at)).payment).toMatchObject({ status: 'paid', escrow: { state: 'captured' } })
    expect(await usdc(payer.address)).toBe(START - PRICE)
    expect(await world.service.ledger.differences()).toEqual([])
  })

  test('a captured payment is refunded like any other', async () => {
    await world.seller.call('POST', '/v1/wallet/deposit', { body: { amount: 5 } })
    const { at, id, token } = await waiting()
    await report(id, { status: 'succeeded' })
    await ended(id, token, at)
    const refund = await world.seller.call('POST', `/v1/payments/${id}/refund`, { body: { reason: 'Not useful.' } })
    expect(refund.status).toBeLessThan(300)
    expect((await see(id, token, at)).payment.refunded).toBe(0.5)
  })

  test('has no price limit, but the time limit of onSuccess', async () => {
    const create = (terms: object) => world.seller.call('POST', '/v1/checkouts', { body: { ...base(), ...terms } })
    const base = () => ({
      callbackUrl: world.workflow.url,
      product: { name: 'Audit' },
      network: 'base-sepolia',
      recipient: world.recipient,
      capture: 'escrow',
    })
    expect(await create({ price: 5_000 })).toMatchObject({ status: 201, body: { checkout: { capture: 'escrow' } } })
    for (const [terms, field] of [
      [{ price: 1, runSeconds: 3_601 }, 'runSeconds'],
      [{ price: 1, refundOnFailure: true }, 'refundOnFailure'],
    ] as const) {
      expect(await create(terms)).toMatchObject({ status: 400, body: { details: { [field]: expect.any(String) } } })
    }
  })

  test('in test mode the workflow decides, without an escrow', async () => {
    const at = await sell({ testMode: true })
    const body = { input: {}, simulate: true }
    const { payment } = ((await world.call('POST', `/p/${at}/pay`, { body })) as Paid).body
    expect(await ended(payment.id, payment.token, at)).toMatchObject({
      payment: { status: 'paid', capture: 'escrow', escrow: null },
      delivery: { answer: '{"score":97}' },
    })
  })

  test('a payment that its service does not know to be captured ends as paid', async () => {
    const { at, signed, id, token } = await waiting()
    const before = await usdc(world.recipient)
    const { info } = signed
    await world.chain.call('anvil_impersonateAccount', info.operator)
    const { to, data } = escrowCall('capture', info, PRICE, 0n, info.feeReceiver)
    const hash = (await world.chain.call('eth_sendTransaction', { from: info.operator, to, data })) as Hex
    await until(async () => (await usdc(world.recipient)) === before + PRICE)
    await report(id, { status: 'succeeded', answer: 'worth it' })
    expect(await ended(id, token, at)).toMatchObject({
      payment: { status: 'paid', txHash: hash, escrow: { state: 'captured' } },
      delivery: { answer: 'worth it' },
    })
    expect(await usdc(world.recipient)).toBe(before + PRICE)
  })

  // The last one: it moves the clock far ahead.
  test('a payment not captured in time ends unpaid, and says how to reclaim it', async () => {
    const { at, payer, signed, id, token } = await waiting()
    await world.chain.setPaused(true)
    await report(id, { status: 'succeeded', answer: 'secret' })
    expect((await see(id, token, at)).payment.status).toBe('settling')
    world.service.clock.forward(2 * 3_600_000)
    await world.chain.call('evm_setNextBlockTimestamp', signed.info.authorizationExpiry + 1)
    await world.chain.mine()
    await world.chain.setPaused(false)
    const { payment, delivery } = await until(async () => {
      await world.chain.mine()
      world.service.clock.forward(61_000)
      const view = await see(id, token, at)
      return view.payment.status === 'failed' ? view : null
    })
    expect(payment).toMatchObject({
      escrow: { state: 'reclaimable' },
      reason: { sentence: expect.stringContaining('reclaim') },
    })
    expect(delivery).toMatchObject({ answer: null })
    // The page of who has lost the token, once the checkout has ended.
    expect((await world.seller.call('DELETE', `/v1/checkouts/${at}`)).status).toBe(200)
    const page = await world.call('GET', `/p/${at}/payments/${id}`, { headers: { accept: 'text/html' } })
    expect(page.text).toContain('reclaim')
    expect(page.text).not.toContain('Nothing was charged')
    expect(await reclaim(world.chain, { payer, info: signed.info })).toBe('0x1')
    expect(await usdc(payer.address)).toBe(START)
  })

  test('a payment reclaimed by its payer is not offered to be reclaimed again', async () => {
    const { at, payer, signed, id, token } = await waiting()
    await world.chain.setPaused(true)
    await report(id, { status: 'succeeded' })
    await world.chain.call('evm_setNextBlockTimestamp', signed.info.authorizationExpiry + 1)
    await world.chain.mine()
    await world.chain.setPaused(false)
    expect(await reclaim(world.chain, { payer, info: signed.info })).toBe('0x1')
    world.service.clock.forward(2 * 3_600_000)
    const { payment } = await until(async () => {
      await world.chain.mine()
      world.service.clock.forward(61_000)
      const view = await see(id, token, at)
      return view.payment.status === 'failed' ? view : null
    })
    expect(payment).toMatchObject({ escrow: { state: 'voided', voidedTx: null } })
    expect(payment.reason?.sentence).not.toContain('reclaim')
    expect(await usdc(payer.address)).toBe(START)
  })

  test('an account’s money is held in the ledger instead, until the work has succeeded', async () => {
    const at = await sell({ recipient: undefined })
    const person = await world.service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })
    const balance = async () => (await person.call('GET', '/v1/wallet/balance')).body.wallet.balance as number
    world.workflow.answers({ delivery: { status: 410, body: '{}' } })
    expect(await buyWithKey(at, person.key)).toMatchObject({ isError: true })
    expect(await balance()).toBe(1)
    world.workflow.answers({ delivery: { status: 200, body: '{"score":97}' } })
    expect(await buyWithKey(at, person.key)).toMatchObject({ structuredContent: { score: 97 } })
    expect(await balance()).toBe(0.5)
    const { body } = await world.seller.call('GET', `/v1/checkouts/${at}/payments`)
    expect(body.payments).toMatchObject([
      { capture: 'onSuccess', escrow: null, status: 'paid' },
      { capture: 'onSuccess', escrow: null, status: 'failed' },
    ])
  })
})

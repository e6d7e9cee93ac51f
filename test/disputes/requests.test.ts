import { randomUUID } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openWorld, type World } from '../checkouts/world.ts'
import type { TestPerson } from '../harness/service.ts'
import { refund } from '../refunds/sales.ts'
import { DEFAULT_POLICY } from '../../service/disputes/model.ts'
import { findRefundDifferences } from '../../service/refunds/store.ts'
import {
  answer,
  askRefund,
  createSale,
  DAY_MS,
  disputeOf,
  refundRequest,
  report,
  signedReport,
  sweep,
} from './reports.ts'

describe('a refund request by the x402 extension', () => {
  let world: World
  let seller: TestPerson
  beforeAll(async () => {
    const environment = { WITHDRAWAL_LIMIT_PER_DAY: '0', WITHDRAWAL_LIMIT_TOTAL_PER_DAY: '0', REFUNDS_PER_DAY: '1000' }
    world = await openWorld({ chain: true, works: false, environment })
  })
  beforeEach(async () => {
    seller = await world.service.person()
  })
  afterAll(() => world.close())

  const automatic = (more: object = {}) =>
    seller.call('PATCH', '/v1/refund-policy', { body: { agents: 'automatic', ...more } })
  const requestRefund = async (
    sale: Awaited<ReturnType<typeof createSale>>,
    over: Parameters<typeof refundRequest>[2] = {},
  ) => (await askRefund(world, await refundRequest(world.service, sale, over))).body as Record<string, unknown>
  const buy = (over: Parameters<typeof createSale>[2] = {}) => createSale(world.service, seller, over)
  const denied = (denialReason: string): unknown => expect.objectContaining({ status: 'denied', denialReason })
  const fund = () => seller.call('POST', '/v1/wallet/deposit', { body: { amount: 100 } })
  const stranger = () => privateKeyToAccount(generatePrivateKey())

  test('is declared in the 402 of a checkout, by the policy of its seller', async () => {
    const { id } = await world.sell({})
    const extensions = async () => {
      const { status, headers } = await world.call('POST', `/p/${id}`, { body: {} })
      expect(status).toBe(402)
      const required = JSON.parse(Buffer.from(String(headers.get('payment-required')), 'base64').toString())
      return required.extensions.refund as { info: object; payerSignature: { text: string } } | undefined
    }
    const declared = await extensions()
    expect(declared?.info).toEqual({
      ...{
        refundEndpoint: expect.stringMatching(/\/receipts\/refunds$/),
        windowSeconds: 2_592_000,
        partialRefunds: true,
      },
    })
    expect(declared?.payerSignature.text).toContain('Idempotency Key: {idempotencyKey}')
    await world.seller.call('PATCH', '/v1/refund-policy', { body: { windowDays: 0 } })
    expect(await extensions()).toBeUndefined()
    await world.seller.call('PATCH', '/v1/refund-policy', { body: { windowDays: 30 } })
  })

  test('is possible within the window of the policy at the time of the sale, or the default window', async () => {
    const stored = async ({ id }: { id: string }) =>
      (await world.service.database.statements.run('SELECT refund_window_days FROM sale WHERE id = $1', [id]))[0]
    const sale = await buy()
    expect(await stored(sale)).toEqual({ refund_window_days: DEFAULT_POLICY.windowDays })
    const days = (windowDays: number) => seller.call('PATCH', '/v1/refund-policy', { body: { windowDays } })
    await days(1)
    // Whoever was shown the earlier terms may still pay by them, however often the seller changes them.
    for (const again of [60, 1, 0]) {
      expect(await stored(await buy())).toEqual({ refund_window_days: again === 60 ? 30 : 60 })
      await days(again)
    }
    expect(await stored(await buy())).toEqual({ refund_window_days: 60 })
    await days(1)
    world.service.clock.forward(3_600_000)
    const later = await buy()
    expect(await stored(later)).toEqual({ refund_window_days: 1 })
    world.service.clock.forward(2 * DAY_MS)
    expect(await requestRefund(sale)).toMatchObject({ status: 'pending' })
    expect(await requestRefund(later)).toEqual(denied('outside_window'))
  })

  test('waits for the seller, and shows its result to the holder of the key', async () => {
    const sale = await buy({ simulated: false })
    const key = randomUUID()
    expect(await requestRefund(sale, { key })).toEqual({ status: 'pending', amount: '1000000' })
    expect((await world.call('GET', `/receipts/refunds/${key}`)).body).toEqual({ status: 'pending', amount: '1000000' })
    expect(await disputeOf(world.service, sale.id)).toMatchObject({ state: 'open', openedBy: 'agent' })
    await answer(seller, (await disputeOf(world.service, sale.id)).id, { action: 'decline' })
    expect(await requestRefund(sale, { key })).toEqual(denied('policy_denied'))
    expect((await world.call('GET', `/receipts/refunds/${key}`)).body).toEqual(denied('policy_denied'))
    expect(await world.call('GET', `/receipts/refunds/${randomUUID()}`)).toMatchObject({ status: 404 })
    // A new key changes nothing.
    expect(await requestRefund(sale)).toEqual(denied('policy_denied'))
  })

  test("is executed at once within the policy's limits, and pending beyond them", async () => {
    await automatic({ automaticPerSale: 1, automaticPerDay: 1.5 })
    const [one, two, dear] = [await buy(), await buy(), await buy({ amount: 2_000_000 })]
    const payer = (sale: typeof one) => accountOf(world, sale.payer.address)
    const buyers = [await payer(one), await payer(two), await payer(dear)]
    await fund()
    expect(await requestRefund(one)).toEqual({ status: 'executed', amount: '1000000', refundTxHash: null })
    expect(await requestRefund(dear, { amount: '2000000' })).toEqual({ status: 'pending', amount: '2000000' })
    expect(await requestRefund(two)).toEqual({ status: 'pending', amount: '1000000' })
    expect(await disputeOf(world.service, two.id)).toMatchObject({ state: 'open', decidedBy: null })
    world.service.clock.forward(DAY_MS)
    const three = await buy()
    await payer(three)
    expect(await requestRefund(three, { amount: '400000' })).toEqual({
      status: 'executed',
      amount: '400000',
      refundTxHash: null,
    })
    expect(buyers).toHaveLength(3)
    expect(await world.service.ledger.differences()).toEqual([])
  })

  test('is executed for one wallet twice in 24 hours per seller; further ones are pending', async () => {
    await automatic()
    await fund()
    const first = await buy()
    const payer = first.payer.address.toLowerCase()
    await accountOf(world, payer)
    const six = [first, ...(await Promise.all(Array.from({ length: 5 }, () => buy({ payer }))))]
    const statusOf = async (sale: typeof first) => {
      const answer = await requestRefund({ ...sale, payer: first.payer }, { reason: 'customer_request' })
      return answer['status']
    }
    const answers = await Promise.all(six.map(statusOf))
    expect(answers.filter((status) => status === 'executed')).toHaveLength(2)
    expect(answers.filter((status) => status === 'pending')).toHaveLength(4)
    expect(await statusOf(await buy({ payer }))).toBe('pending')
    // Another wallet has a share of its own, and the day after this one has a new one.
    const other = await buy()
    await accountOf(world, other.payer.address)
    expect(await requestRefund(other)).toMatchObject({ status: 'executed' })
    world.service.clock.forward(DAY_MS)
    expect(await statusOf(await buy({ payer }))).toBe('executed')
    expect(await findRefundDifferences(world.service.database.statements)).toEqual([])
  })

  test.each(['begun', 'whole', 'expired', 'succeeded', 'delivered', 'claimed', 'unconfirmed', 'pending'] as const)(
    'is pending, not refunded, where the work was delivered or is in progress (%s)',
    async (evidence) => {
      await automatic()
      await fund()
      const sale = await buy()
      await accountOf(world, sale.payer.address)
      await handOver(world, sale.id, evidence)
      expect(await requestRefund(sale)).toEqual({ status: 'pending', amount: '1000000' })
      expect(await disputeOf(world.service, sale.id)).toMatchObject({ state: 'open', decidedBy: null })
      expect(await world.service.refunds.ofSale(sale.id)).toEqual([])
    },
  )

  test('is refunded once for a hundred concurrent requests, with one key or many', async () => {
    await automatic()
    await fund()
    const sale = await buy()
    await accountOf(world, sale.payer.address)
    const bodies = await Promise.all(
      Array.from({ length: 100 }, () => refundRequest(world.service, sale, { amount: '300000' })),
    )
    const same = bodies[0]!
    const answers = await Promise.all(bodies.map((body, at) => askRefund(world, at % 2 === 0 ? same : body)))
    const texts = answers.map(({ body }) => JSON.stringify(body))
    const executed = JSON.stringify({ status: 'executed', amount: '300000', refundTxHash: null })
    for (const one of texts)
      expect([
        executed,
        '{"status":"pending","amount":"300000"}',
        JSON.stringify({ status: 'denied', amount: '300000', denialReason: 'already_refunded' }),
      ]).toContain(one)
    expect((await seller.call('GET', `/v1/payments/${sale.id}`)).body.payment).toMatchObject({ refunded: 0.3 })
    expect((await world.service.refunds.ofSale(sale.id)).length).toBe(1)
    expect(await findRefundDifferences(world.service.database.statements)).toEqual([])
  })

  test('is refused with another body, or for another payment, under the same key', async () => {
    const [sale, other] = [await buy(), await buy()]
    const key = randomUUID()
    await requestRefund(sale, { key, amount: '500000' })
    const conflict = { status: 409, body: { code: 'idempotency_conflict' } }
    expect(await askRefund(world, await refundRequest(world.service, sale, { key, amount: '500001' }))).toMatchObject(
      conflict,
    )
    await world.service.database.statements.run('UPDATE sale SET payer = $2 WHERE id = $1', [
      other.id,
      sale.payer.address.toLowerCase(),
    ])
    const elsewhere = await refundRequest(world.service, { ...other, payer: sale.payer }, { key, amount: '500000' })
    expect(await askRefund(world, elsewhere)).toMatchObject(conflict)
    // Another payer may choose the same key.
    expect(await requestRefund(await buy(), { key })).toMatchObject({ status: 'pending' })
  })

  test('is denied to other addresses, other signers, and for anything the signature does not cover', async () => {
    await automatic()
    await fund()
    const [sale, other] = [await buy(), await buy()]
    const thief = stranger()
    const refundTo = thief.address.toLowerCase() as `0x${string}`
    expect(await requestRefund(sale, { refundTo })).toEqual(denied('policy_denied'))
    expect(await requestRefund(sale, { by: thief })).toEqual(denied('not_payer'))
    expect(await requestRefund(sale, { by: thief, refundTo })).toEqual(denied('not_payer'))
    expect(await requestRefund(sale, { by: thief, paymentId: sale.id })).toEqual(denied('not_payer'))
    expect(await requestRefund(sale, { origin: 'https://evil.example/receipts/refunds' })).toEqual(denied('not_payer'))
    for (const signed of [
      { amount: 1n },
      { txHash: other.txHash },
      { key: randomUUID() },
      { reason: 'other' },
      { paymentId: other.id },
    ]) {
      expect(await requestRefund(sale, { signed: signed as never })).toEqual(denied('not_payer'))
    }
    expect(await requestRefund(sale, { network: 'eip155:8453' })).toEqual(denied('unknown_payment'))
    expect(await requestRefund(sale, { network: 'solana:x' })).toEqual(denied('unknown_payment'))
    expect(await requestRefund(sale, { txHash: `0x${'9'.repeat(64)}` })).toEqual(denied('unknown_payment'))
    expect(await requestRefund(sale, { paymentId: other.id })).toEqual(denied('unknown_payment'))
    for (const minutes of [-1, 61]) {
      const late = await refundRequest(world.service, sale, { minutes })
      expect(await askRefund(world, late)).toMatchObject({ status: 410, body: { code: 'signature_expired' } })
    }
    const bare = { ...(await refundRequest(world.service, sale)), payerSignature: undefined }
    expect(await askRefund(world, bare)).toMatchObject({ status: 400 })
    expect((await askRefund(world, bare, { 'x-payment-token': other.token })).body).toEqual(denied('not_payer'))
    expect(await world.service.disputes.ofSale(sale.id)).toBeNull()
    expect((await askRefund(world, bare, { 'x-payment-token': sale.token })).body).toMatchObject({ status: 'pending' })
  })

  test('must name the payment where one transaction paid two', async () => {
    const [sale, other] = [await buy(), await buy()]
    await world.service.database.statements.run('UPDATE sale SET tx_hash = $2, payer = $3 WHERE id = $1', [
      ...[other.id, sale.txHash, sale.payer.address.toLowerCase()],
    ])
    expect(await requestRefund(sale)).toEqual(denied('unknown_payment'))
    expect(await requestRefund(sale, { paymentId: other.id })).toMatchObject({ status: 'pending' })
    expect(await world.service.disputes.ofSale(sale.id)).toBeNull()
    expect(await disputeOf(world.service, other.id)).toMatchObject({ state: 'open' })
  })

  test('is invalid below five cents, unless it covers all that is left', async () => {
    const [sale, small] = [await buy(), await buy({ amount: 10_000 })]
    const dust = await askRefund(world, await refundRequest(world.service, sale, { amount: '49999' }))
    expect([dust.status, dust.body]).toMatchObject([400, { details: { amount: 'must be at least 0.05' } }])
    expect(await world.service.disputes.ofSale(sale.id)).toBeNull()
    expect(await requestRefund(small, { amount: '10000' })).toMatchObject({ status: 'pending' })
  })

  test('is denied after the window, above the remaining amount, in forbidden parts, and after an end', async () => {
    await fund()
    const sale = await buy()
    expect(await requestRefund(sale, { amount: '1000001' })).toEqual(denied('amount_exceeds_settled'))
    await refund(seller, sale.id, { amount: 0.4 })
    expect(await requestRefund(sale, { amount: '600001' })).toEqual(denied('amount_exceeds_settled'))
    await seller.call('PATCH', '/v1/refund-policy', { body: { partialRefunds: false } })
    expect(await requestRefund(sale, { amount: '500000' })).toEqual(denied('policy_denied'))
    await refund(seller, sale.id, {})
    expect(await requestRefund(sale, { amount: '1' })).toEqual(denied('already_refunded'))
    const late = await buy()
    world.service.clock.forward(30 * DAY_MS)
    expect(await requestRefund(late)).toEqual(denied('outside_window'))
    const [balance, unpaid] = [
      await buy({ product: 'gate', details: { kind: 'balance' } }),
      await buy({ state: 'settling' }),
    ]
    expect(await requestRefund(balance)).toEqual(denied('policy_denied'))
    expect(await requestRefund({ ...unpaid, txHash: `0x${'8'.repeat(64)}` })).toEqual(denied('unknown_payment'))
    const tool = await buy({ product: 'tool', userId: null })
    expect(await requestRefund(tool)).toEqual(denied('policy_denied'))
    const reported = await buy()
    await report(world.service, reported)
    // The person's report and the program's request are one dispute.
    expect(await requestRefund(reported)).toMatchObject({ status: 'pending' })
    await answer(seller, (await disputeOf(world.service, reported.id)).id, { action: 'decline' })
    expect(await requestRefund(reported)).toEqual(denied('policy_denied'))
  })

  test('is not affected by an unsigned refund from the seller’s own wallet, nor is the deadline', async () => {
    await seller.call('PATCH', '/v1/refund-policy', { body: { unanswered: 'refund', answerDays: 1 } })
    await fund()
    const [whole, part, reported] = [await buy(), await buy(), await buy()]
    await refund(seller, whole.id, { from: 'own' })
    await refund(seller, part.id, { from: 'own', amount: 0.8 })
    expect(await requestRefund(whole)).toEqual({ status: 'pending', amount: '1000000' })
    expect(await requestRefund(part, { amount: '500000' })).toEqual({ status: 'pending', amount: '500000' })
    await report(world.service, reported)
    world.service.clock.forward(DAY_MS - 600_000)
    for (let time = 0; time < 3; time++) {
      expect((await refund(seller, reported.id, { from: 'own' })).status).toBe(202)
      world.service.clock.forward(600_000)
      await sweep(world.service)
      expect(await disputeOf(world.service, reported.id)).toMatchObject({ state: 'open', attempts: 0 })
      await endUnsigned(world, reported.id)
    }
    expect((await refund(seller, reported.id, { from: 'own' })).body).toMatchObject({ code: 'refund_not_signed' })
    // The end of the last one is enough: the deadline was not moved.
    await sweep(world.service)
    expect(await disputeOf(world.service, reported.id)).toMatchObject({ state: 'refunding', decidedBy: 'deadline' })
    expect(await findRefundDifferences(world.service.database.statements)).toEqual([])
  })

  test('is answered by what the seller refunds apart from it, and nothing is paid a second time', async () => {
    await seller.call('PATCH', '/v1/refund-policy', { body: { unanswered: 'refund', answerDays: 1 } })
    await fund()
    const [whole, half, before, promised] = [await buy(), await buy(), await buy(), await buy()]
    for (const sale of [whole, half, before]) await accountOf(world, sale.payer.address)
    await refund(seller, before.id, { amount: 0.4 })
    world.service.clock.forward(1_000)
    const keys = new Map<string, string>()
    for (const sale of [whole, half, before, promised]) {
      keys.set(sale.id, randomUUID())
      const request = await requestRefund(sale, { amount: '400000', key: keys.get(sale.id)! })
      expect(request).toEqual({ status: 'pending', amount: '400000' })
    }
    await refund(seller, whole.id, { amount: 0.4 })
    await refund(seller, half.id, { amount: 0.3 })
    await refund(seller, promised.id, { amount: 0.4 })
    const disputes = await Promise.all([whole, promised].map(({ id }) => disputeOf(world.service, id)))
    for (const { id } of disputes) {
      expect(await answer(seller, id, { action: 'refund', amount: 0.4 })).toMatchObject({
        status: 409,
        body: { code: 'dispute_not_open' },
      })
    }
    world.service.clock.forward(DAY_MS)
    for (let time = 0; time < 2; time++) await sweep(world.service)
    const shown = async ({ id }: typeof whole): Promise<unknown[]> => {
      const { body } = await seller.call('GET', `/v1/payments/${id}`)
      const request: unknown = (await world.call('GET', `/receipts/refunds/${keys.get(id)!}`)).body
      return [Number(body.payment.refunded), (await disputeOf(world.service, id)).state, request]
    }
    const executed = (amount: string): unknown => ({ status: 'executed', amount, refundTxHash: null })
    expect(await shown(whole)).toEqual([0.4, 'refunded', executed('400000')])
    expect(await shown(half)).toEqual([0.4, 'refunded', executed('400000')])
    expect(await shown(before)).toEqual([0.8, 'refunded', executed('400000')])
    expect(await shown(promised)).toEqual([0.4, 'open', { status: 'pending', amount: '400000' }])
    expect(await findRefundDifferences(world.service.database.statements)).toEqual([])
  })

  test('keeps its deadline while a part that the seller requested since is not funded', async () => {
    await seller.call('PATCH', '/v1/refund-policy', { body: { unanswered: 'refund', answerDays: 1 } })
    await fund()
    const sale = await buy()
    await requestRefund(sale, { amount: '400000' })
    world.service.clock.forward(DAY_MS)
    await refund(seller, sale.id, { from: 'own', amount: 0.4 })
    await sweep(world.service)
    expect(await disputeOf(world.service, sale.id)).toMatchObject({ state: 'open', attempts: 0 })
    await endUnsigned(world, sale.id)
    await sweep(world.service)
    expect(await disputeOf(world.service, sale.id)).toMatchObject({ state: 'refunding', refundAmount: 400_000n })
  })

  test('a contract wallet signs with its owner’s key (ERC-1271), for both ways of asking', async () => {
    const owner = privateKeyToAccount(generatePrivateKey())
    const wallet = await world.chain.wallet('owned', { owner: owner.address, usdc: 1_000_000n })
    const [sale, other] = [await buy({ payer: wallet }), await buy({ payer: wallet })]
    expect(await requestRefund(sale, { by: stranger() })).toEqual(denied('not_payer'))
    expect(await requestRefund(sale, { by: owner })).toMatchObject({ status: 'pending' })
    const post = (body: object) => world.call('POST', `/receipts/${other.id}/dispute`, { body })
    expect(await post(await signedReport(world.service, other, stranger()))).toMatchObject({ status: 404 })
    expect(await post(await signedReport(world.service, other, owner))).toMatchObject({ status: 201 })
  })

  test('is pending while it cannot be paid automatically, and repeats the same refund', async () => {
    await automatic()
    const sale = await buy()
    const key = randomUUID()
    expect(await requestRefund(sale, { key })).toEqual({ status: 'pending', amount: '1000000' })
    expect(await disputeOf(world.service, sale.id)).toMatchObject({ state: 'refunding', decidedBy: 'policy' })
    expect(await world.service.refunds.ofSale(sale.id)).toMatchObject([{ requestedBy: 'agent', state: 'requested' }])
    // Twice the same, and the same refund.
    expect(await requestRefund(sale, { key })).toEqual({ status: 'pending', amount: '1000000' })
    expect(await world.service.refunds.ofSale(sale.id)).toHaveLength(1)
  })
})

/** As the sale, or the delivery of its order, records it. */
type Evidence = 'begun' | 'whole' | 'expired' | 'succeeded' | 'delivered' | 'claimed' | 'unconfirmed' | 'pending'
const DELIVERIES: ReadonlySet<Evidence> = new Set(['delivered', 'claimed', 'unconfirmed', 'pending'] as const)

async function handOver({ service }: World, sale: string, evidence: Evidence) {
  const { statements } = service.database
  if (evidence === 'succeeded') {
    const result = { status: 'succeeded', answer: null, reason: null, at: service.clock.now().toISOString() }
    await statements.run('UPDATE sale SET result = $2::json WHERE id = $1', [sale, JSON.stringify(result)])
  } else if (DELIVERIES.has(evidence)) {
    await statements.run(
      `INSERT INTO delivery (id, user_id, environment, subject, url, body, headers, wait_ms, keep_bytes, on_unconfirmed,
         state, due_at, claimed_at, confirm_by, delivered_at, created_at)
       SELECT 'dlv_' || id, user_id, environment, id, 'http://127.0.0.1:9/', '{}', '{}', 1, 1, 'hold', $2::delivery_state,
         CASE WHEN $2 = 'pending' THEN created_at END, created_at, created_at, created_at, created_at
       FROM sale WHERE id = $1`,
      [sale, evidence],
    )
  } else {
    await statements.run('UPDATE sale SET handover = $2::sale_handover WHERE id = $1', [sale, evidence])
  }
}

/** Ends the refund that waits for a signature, as the chain does after its time. */
async function endUnsigned({ service }: World, sale: string): Promise<void> {
  await service.database.statements.run(
    `UPDATE refund SET state = 'failed', failure = 'not_sent', ended_at = created_at, look_at = NULL
     WHERE sale_id = $1 AND state = 'requested'`,
    [sale],
  )
}

/** Makes the address the payer of an account here, so that a refund ends without a chain. */
async function accountOf({ service }: World, address: string): Promise<TestPerson> {
  const buyer = await service.person()
  await service.database.statements.run(
    `INSERT INTO spending_payer (address, user_id, environment, created_at) VALUES ($1, $2, 'sandbox', now())`,
    [address.toLowerCase(), buyer.caller.user.id],
  )
  return buyer
}

import type { Hex } from '../../service/chain/model.ts'
import { findTransfers } from '../../service/transfers/store.ts'
import { usdcOf, until } from '../facilitator/world.ts'
import type { TestChain } from '../harness/chain.ts'
import type { TestPerson, TestService } from '../harness/service.ts'
import type { Seller } from './seller.ts'
import { sealedPlaces } from '../vault/opens.ts'
import { openPaidCalls, type PaidCalls } from './world.ts'

/**
 * Where the money of paid calls comes from, and calls that continue in the background: with the worker's queue running.
 */
const VAULT_KEY = `test:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`

describe('an account’s payer wallet', () => {
  let world: PaidCalls
  let chain: TestChain
  let service: TestService
  let seller: Seller
  let treasury: Hex

  beforeAll(async () => {
    const limits = { PAY_TIMEOUT_MS: '5000', RATE_API_PER_MINUTE: '0', RATE_SETTLE_PER_MINUTE: '0' }
    world = await openPaidCalls({ ...limits, VAULT_KEY })
    ;({ chain, service, seller, treasury } = world)
    await service.start()
  })
  afterAll(() => world.close())

  const pay = (person: TestPerson, path: string, more: object = {}) =>
    person.call('POST', '/v1/pay', { body: { url: seller.url(path), maxAmount: 1, ...more } })
  const left = () => usdcOf(chain, treasury)

  test('pays from its own address, only with the money sent for that', async () => {
    const people = [await world.person(), await world.person()]
    const before = await left()
    const answers = await Promise.all(people.map((person, place) => pay(person, `/v2/own-${String(place)}`)))
    const payers = answers.map(({ body }) => body.payment.payer as Hex)
    expect(new Set(payers).size).toBe(2)
    expect(await Promise.all(payers.map((payer) => usdcOf(chain, payer)))).toEqual([0n, 0n])
    expect(before - (await left())).toBe(500_000n)
    expect((await pay(people[0]!, '/v1/own-again')).body.payment.payer).toBe(payers[0])
  })

  test('uses leftover money for the next calls before it receives more', async () => {
    const person = await world.person()
    const { body } = await pay(person, '/v2/500')
    expect(body.payment.status).toBe('pending')
    const id = body.payment.id as string
    expect(await findTransfers(service.database.statements, { id })).toMatchObject([
      { id: `funding ${id}`, kind: 'funding', state: 'confirmed', from: treasury, settlement: 'settled' },
      { id, kind: 'payment', state: 'sent', settlement: null },
    ])
    await until(async () => {
      await world.expire()
      const { payment } = (await person.call('GET', `/v1/pay/${String(body.payment.id)}`)).body
      return payment.status === 'returned' && payment.reason === 'expired'
    })
    const payer = body.payment.payer as Hex
    expect(await usdcOf(chain, payer)).toBe(250_000n)
    const before = await left()
    const done = await Promise.all([pay(person, '/v2/spare-a'), pay(person, '/v2/spare-b')])
    expect(done.map(({ body: { payment } }) => payment.status as string)).toEqual(['settled', 'settled'])
    // One wallet had the money, the other received its own.
    expect(before - (await left())).toBe(250_000n)
    expect(await usdcOf(chain, payer)).toBe(0n)
  })

  test('pays ten concurrent calls with ten prices from the treasury, and keeps none of it', async () => {
    const person = await world.person()
    const before = await left()
    const done = await Promise.all(Array.from({ length: 10 }, (_, call) => pay(person, `/v2/many-${String(call)}`)))
    expect(done.map(({ body }) => body.payment?.status as unknown)).toEqual(Array.from({ length: 10 }, () => 'settled'))
    expect(before - (await left())).toBe(2_500_000n)
    expect(await usdcOf(chain, done[0]!.body.payment.payer as Hex)).toBe(0n)
    expect(await service.ledger.differences()).toEqual([])
  })

  test("refuses calls beyond the treasury's money, and pays the others", async () => {
    const person = await world.person()
    const all = await left()
    await chain.fund(treasury, 600_000n)
    const done = await Promise.all(Array.from({ length: 4 }, (_, call) => pay(person, `/v2/short-${String(call)}`)))
    const settled = done.filter(({ status }) => status === 200).length
    expect(settled).toBe(2)
    // Nothing of these is left to wait for: the same key would find them again.
    for (const { status, body } of done)
      if (status !== 200) expect([status, body.code]).toEqual([410, 'payment_returned'])
    expect(await left()).toBe(100_000n)
    await chain.fund(treasury, all)
    // Released at once: nothing was signed for the others.
    expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.totalLocked).toBe(0)
    expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBeCloseTo(19.5, 6)
    expect(await service.ledger.differences()).toEqual([])
  })

  describe('a call that a person must approve', () => {
    async function agentKey(person: TestPerson, more: object = {}): Promise<string> {
      const rules = { name: 'A', limits: { perDay: 5 }, approvalAbove: 0.1, ...more }
      const { agent } = (await person.call('POST', '/v1/agents', { body: rules })).body
      return (await person.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })).body.secret as string
    }

    test('with async continues after the approval, once, and stores its answer sealed under its id', async () => {
      const person = await world.person()
      const key = await agentKey(person)
      const call = { method: 'POST', headers: { 'x-secret': 'never-in-the-clear' }, body: { q: 7 }, async: true }
      const held = await service.call('POST', '/v1/pay', {
        key,
        body: { url: seller.url('/v2/by-itself'), maxAmount: 1, ...call },
      })
      expect([held.status, held.body.code]).toEqual([202, 'approval_required'])
      const approval = `/v1/approvals/${String(held.body.approvalId)}`
      await person.call('POST', `${approval}/approve`)
      const id = await until(async () => {
        const { reference } = (await service.call('GET', approval, { key })).body.approval
        return reference as string | null
      })
      const done = await until(async () => {
        const { body } = await service.call('GET', `/v1/pay/${id}`, { key })
        return body.response === null ? null : (body as { payment: unknown; response: { body: string } })
      })
      expect(done.payment).toMatchObject({ id, status: 'settled', amount: 0.25 })
      expect(JSON.parse(done.response.body)).toEqual({ sold: true, method: 'POST', body: '{"q":7}' })
      expect(seller.payments.get('/v2/by-itself')).toHaveLength(1)
      // The request and the response must not be readable in the database.
      const rows = await service.database.statements.run<{ text: string }>(
        `SELECT on_approved::text AS text FROM spending_approval WHERE id = $1
         UNION ALL SELECT payload::text FROM outbox WHERE topic = 'spending.pay'
         UNION ALL SELECT answer FROM spending_payment WHERE id = $2`,
        [held.body.approvalId, id],
      )
      expect(rows.length).toBeGreaterThan(1)
      for (const { text } of rows) expect(text).not.toMatch(/never-in-the-clear|sold/)
      expect(await sealedPlaces(service, VAULT_KEY)).toEqual(
        expect.arrayContaining(['spending_approval.on_approved', 'outbox.payload', 'spending_payment.answer']),
      )
      await expect(service.outgoingPayments.payApproved(await announced(held.body.approvalId as string))).resolves.toBe(
        undefined,
      )
      expect(seller.payments.get('/v2/by-itself')).toHaveLength(1)
    })

    /** The queue's message about it: it may be delivered twice. */
    async function announced(approvalId: string): Promise<Record<string, unknown>> {
      const [row] = await service.database.statements.run<{ on_approved: { payload: Record<string, unknown> } }>(
        'SELECT on_approved FROM spending_approval WHERE id = $1',
        [approvalId],
      )
      return row!.on_approved.payload
    }

    test('with async is tried again where the minute has no room for another call', async () => {
      const person = await world.person()
      service.clock.forwardToMinute()
      const key = await agentKey(person, { rate: { callsPerMinute: 1 } })
      const body = { url: seller.url('/v2/next-minute'), maxAmount: 1, async: true }
      const { approvalId } = (await service.call('POST', '/v1/pay', { key, body })).body as { approvalId: string }
      await person.call('POST', `/v1/approvals/${approvalId}/approve`)
      const approved = await announced(approvalId)
      const limited = { code: 'spending_limit', fields: { limit: 'callsPerMinute' } }
      await expect(service.outgoingPayments.payApproved(approved)).rejects.toMatchObject(limited)
      service.clock.forwardToMinute()
      await until(async () => {
        await service.outgoingPayments.payApproved(approved).catch(() => undefined)
        return (await service.call('GET', `/v1/approvals/${approvalId}`, { key })).body.approval.reference as
          string | null
      })
      expect(seller.payments.get('/v2/next-minute')).toHaveLength(1)
    })

    test('with an open connection is answered on it, and is not sent again', async () => {
      const person = await world.person()
      const key = await agentKey(person)
      const waiting = service.call('POST', '/v1/pay', {
        key,
        headers: { prefer: 'wait=20' },
        body: { url: seller.url('/v2/waited'), maxAmount: 1 },
      })
      const approval = await until(async () => {
        const { approvals } = (await person.call('GET', '/v1/approvals?status=pending')).body
        return (approvals as { id: string }[])[0] ?? null
      })
      await person.call('POST', `/v1/approvals/${approval.id}/approve`)
      const { status, body } = await waiting
      expect([status, body.payment.status, body.response.status]).toEqual([200, 'settled', 200])
      expect(seller.payments.get('/v2/waited')).toHaveLength(1)
    })
  })
})

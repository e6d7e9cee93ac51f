import { randomBytes } from 'node:crypto'
import { newId } from '../../service/kit/ids.ts'
import { usdc } from '../../service/kit/money.ts'
import { findRefundDifferences } from '../../service/refunds/store.ts'
import { testService } from '../harness/service.ts'
import { addSale, refund, rich, work } from './sales.ts'

test('a blocked refund names what it waits for, and proceeds when that is lifted', async () => {
  const service = await testService({ WITHDRAWAL_LIMIT_PER_DAY: '5', REFUNDS_PER_DAY: '2' })
  const person = await rich(service, 100)
  const states = async (sale: string) => {
    const { refunds } = (await person.call('GET', `/v1/payments/${sale}`)).body.payment
    return (refunds as { state: string; waitsFor: { code: string } | null }[]).map(
      ({ state, waitsFor }) => waitsFor?.code ?? state,
    )
  }
  const sale = await addSale(service, person, { amount: 20_000_000 })
  await service.outflow.setPaused(true)
  await refund(person, sale, { amount: 4 })
  expect(await states(sale)).toEqual(['payouts_paused'])
  await service.outflow.setPaused(false)
  service.clock.forward(6_000)
  await work(service)
  expect(await states(sale)).toEqual(['confirmed'])
  await refund(person, sale, { amount: 2 })
  await refund(person, sale, { amount: 1 })
  await refund(person, sale, { amount: 0.5 })
  expect(await states(sale)).toEqual(['confirmed', 'withdrawal_limit', 'funded', 'quota_exceeded'])
  // What waits is tried again, and every attempt decides by what holds then.
  service.clock.forward(6_000)
  await work(service)
  expect(await states(sale)).toEqual(['confirmed', 'quota_exceeded', 'confirmed', 'quota_exceeded'])
  service.clock.forward(86_400_000)
  await work(service)
  await work(service)
  expect(await states(sale)).toEqual(['confirmed', 'confirmed', 'confirmed', 'confirmed'])
  expect((await person.call('GET', '/v1/wallet/balance')).body.wallet.balance).toBe(92.5)
  expect(await findRefundDifferences(service.database.statements)).toEqual([])
  await service.close()
})

test('a payout that a process of the version before has ended is followed; the check of the books names what differs', async () => {
  const service = await testService()
  const { statements } = service.database
  const person = await rich(service, 10)
  const sale = await addSale(service, person)
  const { id } = (await refund(person, sale, {})).body.refund as { id: string }
  await statements.run(
    `UPDATE wallet_withdrawal SET state = 'confirmed', submitted_at = now(), ended_at = now() WHERE id = $1`,
    [id],
  )
  const owner = { userId: person.caller.user.id, environment: 'sandbox' as const }
  const [refunded] = [(await service.refunds.ofSale(sale))[0]!]
  const shares = [{ to: { platform: 'treasury' as const }, amount: refunded.amount }]
  const capture = { hold: id, owner, amount: refunded.amount, shares, reference: null, announcements: [] }
  await service.ledger.capture({ ...capture, kind: 'payout' })
  expect(await findRefundDifferences(statements)).toEqual([
    { subject: `refund ${id}`, figure: 'lock', recorded: 'open 0', recomputed: 'captured 1000000' },
  ])
  service.clock.forward(61_000)
  await service.refunds.followLost(service.clock.now(), new AbortController().signal)
  expect((await person.call('GET', `/v1/payments/${sale}`)).body.payment).toMatchObject({ state: 'refunded' })
  expect(await findRefundDifferences(statements)).toEqual([])
  await statements.run('UPDATE sale SET refunded = 400000 WHERE id = $1', [sale])
  expect(await findRefundDifferences(statements)).toEqual([
    { subject: `sale ${sale}`, figure: 'refunded', recorded: '400000', recomputed: '1000000' },
  ])
  await service.close()
})

test('an ended or counted refund cannot be changed in the database either', async () => {
  const service = await testService()
  const { statements } = service.database
  const person = await rich(service, 10)
  const sale = await addSale(service, person)
  const { id } = (await refund(person, sale, { amount: 0.6 })).body.refund as { id: string }
  const refused = async (text: string) => {
    await expect(statements.run(text, [])).rejects.toThrow(/terms of the refund|has ended|sale_refunded|is not paid/)
  }
  const copy = (of: string, over: string) =>
    `INSERT INTO refund (id, sale_id, user_id, environment, amount, requested_by, way, created_at)
     SELECT id || 'x', ${over}, requested_by, way, created_at FROM refund WHERE id = '${of}'`
  await refused(`UPDATE refund SET amount = 1 WHERE id = '${id}'`)
  await refused(copy(id, 'sale_id, user_id, environment, 400001'))
  const open = await addSale(service, person, { state: 'settling' })
  await refused(copy(id, `'${open}', user_id, environment, 1`))
  await work(service)
  await refused(`UPDATE refund SET state = 'failed', failure = 'x' WHERE id = '${id}'`)
  await service.close()
})

test('a refund with a key is the one of its operation for a process of the version before, which knows no key', async () => {
  const service = await testService()
  const person = await rich(service, 10)
  const saleId = await addSale(service, person)
  const by = { saleId, amount: usdc(400_000n), reason: null, by: 'seller', owner: null } as const
  const [first, second] = [newId('op', service.clock.now()), newId('op', service.clock.now())]
  const keyed = { ...by, keyHash: randomBytes(32) }
  const refund = await service.refunds.request(keyed, first)
  expect((await service.refunds.request(by, first)).id).toBe(refund.id)
  expect((await service.refunds.request(keyed, second)).id).toBe(refund.id)
  expect(await service.refunds.ofSale(saleId)).toHaveLength(1)
  const before = await service.refunds.request(by, second)
  expect((await service.refunds.request({ ...by, keyHash: randomBytes(32) }, second)).id).toBe(before.id)
  expect(await service.refunds.ofSale(saleId)).toHaveLength(2)
  await work(service)
  expect(await findRefundDifferences(service.database.statements)).toEqual([])
  await service.close()
})

test('a refund that exists is answered to a repeat of its key without asking the chain', async () => {
  const service = await testService()
  const person = await rich(service, 10)
  const saleId = await addSale(service, person)
  const owner = { userId: person.caller.user.id, environment: 'sandbox' } as const
  const by = { saleId, amount: null, reason: null, by: 'seller', owner, keyHash: randomBytes(32) } as const
  const operation = newId('op', service.clock.now())
  const refund = await service.refunds.request(by, operation)
  service.wallets.refunds.hasLeft = () => Promise.reject(new Error('no node answers'))
  expect((await service.refunds.request({ ...by, mayHaveBegun: true }, operation)).id).toBe(refund.id)
  await service.close()
})

import type { TestPerson } from '../harness/service.ts'
import { openPaidCalls, type PaidCalls } from './world.ts'

describe('a paid call that a seller has settled', () => {
  let world: PaidCalls
  let person: TestPerson

  beforeAll(async () => {
    world = await openPaidCalls({ SETTLE_CONFIRMATIONS: '3' })
    person = await world.person()
  })
  afterAll(() => world.close())

  test('is captured at the required confirmation, and not one block earlier', async () => {
    const { chain, service, seller } = world
    const { body } = await person.call('POST', '/v1/pay', { body: { url: seller.url('/v2/500'), maxAmount: 1 } })
    await seller.settle('/v2/500')
    const states: unknown[] = []
    for (let confirmations = 1; confirmations <= 3; confirmations++) {
      if (confirmations > 1) await chain.mine(1)
      // The newest block is cached for a second, and a payment is looked at every five.
      service.clock.forward(6_000)
      await service.outgoingPayments.reconcile()
      const { payment } = (await person.call('GET', `/v1/pay/${String(body.payment.id)}`)).body
      const { wallet } = (await person.call('GET', '/v1/wallet/balance')).body
      states.push([payment.confirmed, wallet.totalLocked, wallet.totalSpent])
    }
    expect(states).toEqual([
      [false, 0.25, 0],
      [false, 0.25, 0],
      [true, 0, 0.25],
    ])
    expect(await service.ledger.differences()).toEqual([])
  })
})

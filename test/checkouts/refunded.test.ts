import { newId } from '../../service/kit/ids.ts'
import { openWorld, until, type World } from './world.ts'

describe('an order whose delivery has not succeeded', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
    world.workflow.answers({ delivery: { status: 500, body: '{}' } })
  })
  afterAll(() => world.close())

  /** Paid in test mode, and refused by its workflow once. */
  async function refused() {
    const { id } = await world.sell({ testMode: true })
    const paid = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
    const { id: payment, token } = paid.body.payment as { id: string; token: string }
    const delivery = async () =>
      (await world.call('GET', `/p/${id}/payments/${payment}?token=${token}`)).body.delivery as Delivery
    await until(async () => (await delivery()).lastStatus === 500)
    return { payment, delivery }
  }

  /** What would have come by now comes. */
  async function later(dlv: string) {
    world.service.clock.forward(3 * 86_400_000)
    const { deliveries } = world.service
    await deliveries.attempt({ deliveryId: dlv, turn: 2 } as never, new AbortController().signal).catch(() => undefined)
    await deliveries.sweep(new AbortController().signal)
  }

  it('stops its delivery after a full refund, and cannot be redelivered', async () => {
    const { payment, delivery } = await refused()
    const before = await delivery()
    expect(before.status).toBe('pending')
    const refund = await world.seller.call('POST', `/v1/payments/${payment}/refund`, {
      body: { reason: 'Out of stock' },
      headers: { 'idempotency-key': newId('op', world.service.clock.now()) },
    })
    expect(refund.body.refund).toMatchObject({ amount: 1, state: 'confirmed' })
    expect(await delivery()).toMatchObject({ status: 'stopped', lastError: 'payment_refunded', nextAttemptAt: null })
    await later(before.id)
    expect((await delivery()).attempts).toBe(before.attempts)
    const again = await world.seller.call('POST', `/v1/deliveries/${before.id}/redeliver`)
    expect([again.status, again.body.code]).toEqual([409, 'not_charged'])
  })

  it('continues its delivery after a partial refund', async () => {
    const { payment, delivery } = await refused()
    const refund = await world.seller.call('POST', `/v1/payments/${payment}/refund`, {
      body: { amount: 0.5, reason: 'Late' },
    })
    expect(refund.body.refund).toMatchObject({ state: 'confirmed' })
    expect((await delivery()).status).toBe('pending')
  })

  it('stops its delivery when its seller reports a failure', async () => {
    const { payment, delivery } = await refused()
    const report = async () =>
      await world.seller.call('POST', `/v1/payments/${payment}/outcome`, {
        body: { status: 'failed', answer: 'Sold out.' },
      })
    expect((await report()).status).toBe(200)
    expect(await delivery()).toMatchObject({ status: 'stopped', lastError: 'work_failed' })
    expect((await report()).status).toBe(200)
  })
})

interface Delivery {
  id: string
  status: string
  attempts: number
  lastStatus: number | null
}

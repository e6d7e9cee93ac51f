import { lockWaitedFor } from '../harness/locks.ts'
import { openWorld, until, type World } from './world.ts'

/** A paid order whose workflow said that it failed, and whose seller delivers it again by hand. */
describe('an order that failed and is delivered again', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  const resultOf = async (payment: string): Promise<string | null> => {
    const rows = await world.service.database.statements.run<{ status: string | null }>(
      "SELECT result ->> 'status' AS status FROM sale WHERE id = $1",
      [payment],
    )
    return rows[0]?.status ?? null
  }
  const report = (payment: string, status: 'succeeded' | 'failed') =>
    world.seller.call('POST', `/v1/payments/${payment}/outcome`, { body: { status, answer: 'Said later.' } })
  const redeliver = (delivery: string) => world.seller.call('POST', `/v1/deliveries/${delivery}/redeliver`)

  /** Paid in test mode; its workflow has answered that it failed for good. */
  async function failed() {
    world.workflow.answers({ delivery: { status: 410, body: '{"error":"Out of paper"}' } })
    const { id } = await world.sell({ testMode: true, responseMode: 'immediately' })
    const paid = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
    const { id: payment, token } = paid.body.payment as { id: string; token: string }
    const delivery = async () =>
      (await world.call('GET', `/p/${id}/payments/${payment}?token=${token}`)).body.delivery as Record<string, string>
    await until(async () => (await resultOf(payment)) === 'failed')
    return { payment, delivery }
  }

  it('has no outcome until its seller reports one', async () => {
    const { payment, delivery } = await failed()
    expect(await report(payment, 'succeeded')).toMatchObject({ status: 409, body: { code: 'outcome_known' } })
    world.workflow.answers({ delivery: { status: 200, body: '{}' } })
    expect((await redeliver((await delivery())['id'] ?? '')).status).toBe(202)
    await until(async () => (await delivery())['status'] === 'delivered')
    expect(await resultOf(payment)).toBeNull()
    expect((await report(payment, 'succeeded')).status).toBe(200)
    expect(await report(payment, 'failed')).toMatchObject({ status: 409, body: { code: 'outcome_known' } })
  })

  it('fails again when the workflow reports a failure again', async () => {
    const { payment, delivery } = await failed()
    expect((await redeliver((await delivery())['id'] ?? '')).status).toBe(202)
    await until(async () => Number((await delivery())['attempts']) === 2 && (await resultOf(payment)) === 'failed')
    expect(await report(payment, 'succeeded')).toMatchObject({ status: 409, body: { code: 'outcome_known' } })
  })

  it('keeps its failure once the money went back', async () => {
    const { payment, delivery } = await failed()
    const refund = { body: { reason: 'Out of paper' } }
    expect((await world.seller.call('POST', `/v1/payments/${payment}/refund`, refund)).status).toBe(202)
    expect(await redeliver((await delivery())['id'] ?? '')).toMatchObject({
      status: 409,
      body: { code: 'not_charged' },
    })
    expect(await resultOf(payment)).toBe('failed')
  })

  it('is not delivered again when its refund is stored at the same moment', async () => {
    const { payment, delivery } = await failed()
    const { id, attempts } = await delivery()
    const { statements } = world.service.database
    const redelivered = await statements.together(async (inside) => {
      await inside.run('UPDATE sale SET refunded = amount WHERE id = $1', [payment])
      const sent = redeliver(String(id))
      await lockWaitedFor(inside)
      return { sent }
    })
    expect(await redelivered.sent).toMatchObject({ status: 409, body: { code: 'not_charged' } })
    expect(await delivery()).toMatchObject({ status: 'stopped', attempts })
  })
})

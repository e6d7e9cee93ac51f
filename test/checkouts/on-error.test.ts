import { explanationIn } from '../../service/checkouts/rules/capture.ts'
import { openWorld, until, type World } from './world.ts'

describe('an error of a server that is no workflow of n8n', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: { SETTLE_CONFIRMATIONS: '1' } })
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.forget()
  })

  const answers = (status: number, body: unknown = { error: 'The site could not be reached.' }): void =>
    world.workflow.answers({ delivery: { status, body: JSON.stringify(body) } })

  /** Paid in test mode. */
  async function paid(terms: Record<string, unknown>) {
    const { id } = await world.sell({ testMode: true, responseMode: 'lastNode', ...terms })
    const { body } = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
    const { id: payment, token } = body.payment as { id: string; token: string }
    return async (): Promise<PaidView> =>
      (await world.call('GET', `/p/${id}/payments/${payment}?token=${token}`)).body as PaidView
  }
  const tried = async (see: () => Promise<PaidView>, status: number): Promise<PaidView> =>
    await until(async () => {
      const view = await see()
      return view.delivery.lastStatus === status && view
    })

  it('fails the payment at once: nothing is charged, and only the buyer reads the reason', async () => {
    answers(500)
    const payer = await world.chain.payer(1_000_000n)
    const { id } = await world.sell({ capture: 'onSuccess', responseMode: 'lastNode', price: 0.5 })
    const { body } = await world.call('POST', `/p/${id}/pay`, {
      body: { input: {}, paymentPayload: await world.sign(payer, id) },
    })
    const { id: payment, token } = body.payment as { id: string; token: string }
    const failed = await until(async () => {
      const view = (await world.call('GET', `/p/${id}/payments/${payment}?token=${token}`)).body as PaidView
      return view.payment.status === 'failed' && view
    })
    expect(failed.payment.reason).toEqual({
      code: 'workflow_failed',
      sentence: 'The site could not be reached. Nothing was charged.',
    })
    expect(world.workflow.deliveries).toHaveLength(1)
    const stranger = (await world.call('GET', `/p/${id}/payments/${payment}`)).body as PaidView
    expect(JSON.stringify(stranger)).not.toContain('The site')
  })

  it('is refunded at once with refundOnFailure, and the buyer reads the reason', async () => {
    answers(422, { error: { message: 'No such domain.' } })
    const see = await paid({ refundOnFailure: true })
    const view = await until(async () => {
      const now = await see()
      return now.payment.refunds.some(({ state }) => state === 'confirmed') && now
    })
    expect(view.delivery).toMatchObject({ status: 'stopped', attempts: 1, lastStatus: 422, failure: 'No such domain.' })
  })

  it.each([408, 425, 429])('is temporary with status %i, so the delivery is repeated', async (status) => {
    answers(status)
    const see = await paid({})
    expect((await tried(see, status)).delivery).toMatchObject({ status: 'pending', failure: null })
  })

  it.each([
    ['chosen', { onError: 'retry' }, 'retry'],
    ['a workflow of n8n', { source: { instanceId: 'i', workflowId: 'w', nodeId: 'n' } }, 'retry'],
    ['no caller waits for the answer', { responseMode: 'immediately' }, 'retry'],
  ] as const)('is delivered again where %s', async (_, terms, onError) => {
    answers(500)
    const { checkout } = await world.sell({ testMode: true, responseMode: 'lastNode', ...terms })
    expect(checkout).toMatchObject({ onError })
    const see = await paid(terms)
    expect((await tried(see, 500)).delivery).toMatchObject({ status: 'pending', failure: null })
  })

  it('can be chosen for any checkout, and changed', async () => {
    answers(500)
    const { id, checkout } = await world.sell({ responseMode: 'immediately', onError: 'fail' })
    expect(checkout).toMatchObject({ onError: 'fail' })
    const changed = await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body: { onError: 'retry' } })
    expect(changed.body.checkout).toMatchObject({ onError: 'retry' })
    const see = await paid({ responseMode: 'immediately', onError: 'fail' })
    expect((await tried(see, 500)).delivery.status).toBe('stopped')
    const wrong = await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body: { onError: 'explode' } })
    expect([wrong.status, Object.keys(wrong.body.details as object)]).toEqual([400, ['onError']])
  })
})

describe("the error text of a server's failure", () => {
  it.each([
    ['{"error":"Sold out"}', 'Sold out'],
    ['{"error":{"message":"Sold out","code":7}}', 'Sold out'],
    ['{"message":"Sold\\n\\u0000 out  today"}', 'Sold out today'],
    ['{"error":true,"message":"Sold out"}', 'Sold out'],
    [`{"error":"${'x'.repeat(400)}"}`, `${'x'.repeat(300)}…`],
    ['{"error":"   "}', null],
    ['<h1>Sold out</h1>', null],
    ['["Sold out"]', null],
    ['{"error":', null],
    [null, null],
  ])('%j reads %j', (answer, text) => {
    expect(explanationIn(answer)).toBe(text)
  })
})

interface PaidView {
  payment: { status: string; reason: unknown; refunds: { state: string }[] }
  delivery: { status: string; lastStatus: number | null; failure: string | null }
}

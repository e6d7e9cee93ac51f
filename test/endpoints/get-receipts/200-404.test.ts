import { openWorld, until, type World } from '../../checkouts/world.ts'

describe('GET /receipts/{pay} → 200, 404', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  const page = { accept: 'text/html' }
  const bought = async (terms: object = {}) => {
    const { id } = await world.sell({ testMode: true, ...terms })
    const { body } = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
    const { pathname, search } = new URL(String(body.payment.receiptUrl))
    return { id, payment: body.payment, receipt: pathname + search }
  }

  it('outlives the checkout: for a program, for a browser, and by the link of the page', async () => {
    world.workflow.answers({ delivered: { status: 200, body: '{"report":"kept for the buyer"}' } })
    const { id, payment, receipt } = await bought({ responseMode: 'lastNode' })
    await world.seller.call('DELETE', `/v1/checkouts/${id}`)
    const answer = await until(async () => {
      const found = await world.call('GET', receipt)
      return found.body.delivery?.answer !== null && found
    })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        receipt: { id: payment.id, product: 'checkout', name: 'SEO audit', status: 'paid', amount: 1, testMode: true },
        delivery: { status: 'delivered', answer: '{"report":"kept for the buyer"}' },
      },
    })
    const byHeader = await world.call('GET', `/receipts/${String(payment.id)}`, {
      headers: { 'X-Payment-Token': String(payment.token) },
    })
    expect(byHeader.body).toEqual(answer.body)
    const link = `/p/${id}?payment=${String(payment.id)}&token=${String(payment.token)}`
    for (const path of [receipt, link]) {
      const shown = await world.call('GET', path, { headers: page })
      expect(shown.status).toBe(200)
      expect(shown.text).toContain('kept for the buyer')
      expect(shown.text).not.toContain('does not exist')
    }
  })

  it('404 without the token, with another payment’s, and for a payment that is not there', async () => {
    const { payment, receipt } = await bought()
    const other = await bought()
    const bare = `/receipts/${String(payment.id)}`
    const paths = [
      bare,
      `${bare}?token=${String(other.payment.token)}`,
      `${bare}?token=x`,
      receipt.replace(/pay_\w{4}/, 'pay_0000'),
      '/receipts/x',
    ]
    for (const path of paths) {
      expect(await world.call('GET', path)).toMatchObject({ status: 404, body: { code: 'receipt_not_found' } })
    }
    const shown = await world.call('GET', bare, { headers: page })
    expect([shown.status, shown.text.includes('SEO audit')]).toEqual([404, false])
  })
})

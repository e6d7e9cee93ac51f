import { verifyReceipt } from '../../../service/pages/browser/verify/verify.ts'
import { openWorld, until, type World } from '../../checkouts/world.ts'
import { en } from '../../../service/pages/browser/words/en.ts'
import { speak } from '../../../service/pages/browser/words/say.ts'

speak('en', en)

describe('GET /receipts/{pay} → 200, 404', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  const page = { accept: 'text/html' }
  const buy = async (terms: object = {}) => {
    const { id } = await world.sell({ testMode: true, ...terms })
    const { body } = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
    const { pathname, search } = new URL(String(body.payment.receiptUrl))
    return { id, payment: body.payment, receipt: pathname + search }
  }

  it('outlives the checkout: for a program, for a browser, and by the link of the page', async () => {
    world.workflow.answers({ delivery: { status: 200, body: '{"report":"kept for the buyer"}' } })
    const { id, payment, receipt } = await buy({ responseMode: 'lastNode' })
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

  it('shows the signed receipt of a payment on a chain, and verifies it without the service', async () => {
    const world = await openWorld({ chain: true })
    try {
      const { id } = await world.sell({ price: 0.05 })
      const payer = await world.chain.payer(1_000_000n)
      const paymentPayload = await world.sign(payer, id, 1)
      const sent = await world.call('POST', `/p/${id}/pay`, { body: { input: {}, paymentPayload } })
      const { id: pay, token } = sent.body.payment as { id: string; token: string }
      const status = `/p/${id}/payments/${pay}?token=${token}`
      const { body } = await until(async () => {
        const found = await world.call('GET', status)
        return found.body.payment.status === 'paid' && found
      })
      expect(body.payment.signedReceipt).toMatch(/^eyJ/)
      const { pathname, search } = new URL(String(body.payment.receiptUrl))
      const { signed } = (await world.call('GET', pathname + search)).body
      expect(signed).toEqual({
        jws: { format: 'jws', signature: body.payment.signedReceipt },
        eip712: {
          format: 'eip712',
          payload: {
            version: 1,
            network: world.chain.network.caip2,
            resourceUrl: `http://localhost:0/p/${id}`,
            payer: payer.address.toLowerCase(),
            issuedAt: Math.floor(Date.parse(String(body.payment.paidAt)) / 1_000),
            transaction: body.payment.txHash,
          },
          signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
        },
        terms: { format: 'jws', signature: expect.stringMatching(/^eyJ/) },
        verifyUrl: body.payment.verifyUrl,
      })
      const shown = await world.call('GET', pathname + search, { headers: page })
      expect(shown.text).toContain(`data:text/plain,${String(body.payment.signedReceipt)}`)
      // A viewer without the token gets no receipt, and the seller gets it with the list of payments.
      const anyone = await world.call('GET', `/p/${id}/payments/${String(body.payment.id)}`)
      expect(anyone.body.payment).toMatchObject({ status: 'paid', signedReceipt: null, verifyUrl: null })
      const { payments } = (await world.seller.call('GET', `/v1/checkouts/${id}/payments`)).body
      expect(payments[0]).toMatchObject({ signedReceipt: signed.jws.signature, verifyUrl: signed.verifyUrl })

      const { body: places } = await world.call('GET', '/receipts/verify')
      const load = async () => (await world.call('GET', '/.well-known/did.json')).body as unknown
      const fragment = new URL(String(signed.verifyUrl)).hash
      expect(await verifyReceipt(fragment, { issuers: places.issuers, load })).toMatchObject({
        kind: 'valid',
        facts: { resource: `http://localhost:0/p/${id}`, terms: { amount: '0.05 USDC', recipient: world.recipient } },
      })
    } finally {
      await world.close()
    }
  })

  it('serves the page that verifies a receipt, which may connect to this service only', async () => {
    const shown = await world.call('GET', '/receipts/verify', { headers: page })
    expect([shown.status, shown.text.includes('Verify a receipt')]).toEqual([200, true])
    expect(shown.headers.get('content-security-policy')).toContain("connect-src 'self';")
    const keys = await world.call('GET', '/.well-known/did.json')
    expect([keys.status, keys.headers.get('access-control-allow-origin'), keys.body.id]).toEqual([
      200,
      '*',
      'did:web:localhost%3A0',
    ])
  })

  it('404 without the token, with another payment’s, and for a payment that is not there', async () => {
    const { payment, receipt } = await buy()
    const other = await buy()
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

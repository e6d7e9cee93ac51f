import { randomUUID } from 'node:crypto'
import type { PaymentView, RequestView } from '../../../service/checkouts/views.ts'
import { formOf, paymentAt, simulate } from '../payments.ts'
import { asJson, TRIGGER, until, type World } from '../world.ts'

/** A workflow that asks its payer for more, and goes on with the answer. */
export function requestsStory(world: () => World): void {
  describe('a workflow that asks its payer for more', () => {
    it('continues once the payer has paid it', async () => {
      const { payment, request, end } = await sellAndAsk()
      expect(request).toMatchObject({ status: 'open', amount: 2.5, note: 'Forty more pages of https://example.com' })
      const place = new URL(request.url)
      const paid = await asJson(`${place.href}/pay`, 'POST', { input: {}, simulate: true })
      expect(paid.status).toBe(200)
      expect(await end()).toEqual({
        ...{ status: 'paid', amount: 2.5, note: request.note, requestId: request.id, paymentId: payment.id },
        furtherPaymentId: paid.body.payment.id,
      })
    })

    it('continues with the refusal', async () => {
      const { payment, request, end } = await sellAndAsk()
      const { origin, pathname } = new URL(payment.statusUrl)
      const refusal = await fetch(`${origin}${pathname}/requests/${request.id}/refuse`, {
        method: 'POST',
        headers: { 'x-payment-token': payment.token ?? '' },
      })
      expect(refusal.status).toBe(200)
      expect(await end()).toMatchObject({ status: 'refused', requestId: request.id, furtherPaymentId: null })
    })

    it('continues when the time is over, and not for a forged call to its address', async () => {
      const { payment, request, end } = await sellAndAsk()
      const { requests } = (await world().get(`/payments/${payment.id}/requests`)) as {
        requests: [{ callbackUrl: string }]
      }
      const [{ callbackUrl }] = requests
      const forged = { request: { id: request.id, status: 'paid', paymentId: payment.id } }
      expect(await asJson(callbackUrl, 'POST', forged)).toEqual({ status: 200, body: { waiting: true } })
      const other = callbackUrl.replace(payment.id, 'pay_00000000000000000000000000')
      expect((await asJson(other, 'POST', forged)).status).toBe(404)
      expect((await paymentAt(payment)).requests).toMatchObject([{ status: 'open' }])

      await world().expireRequests()
      expect(await end()).toMatchObject({ status: 'expired', requestId: request.id, furtherPaymentId: null })
    })
  })

  /** Sells an order whose workflow has asked. `end` waits for the workflow's answer to the payer: what it was told. */
  async function sellAndAsk(): Promise<{
    payment: PaymentView['payment']
    request: RequestView
    end(): Promise<Record<string, unknown>>
  }> {
    const credentials = { coinslotApi: world().credential }
    const note = `=Forty more pages of {{ $json.input.website }}`
    const parameters = { resource: 'payment', operation: 'ask', moreAmount: 2.5, note }
    const nodes = [
      [TRIGGER, 'payToRunTrigger', 1.1, { productName: 'SEO audit', price: 5, customerFields: FIELDS, testMode: true }],
      ['Ask', 'coinslot', 1, parameters],
      ['Answer', 'coinslot', 1, { resource: 'payment', operation: 'answer', answerWith: 'item' }],
    ] as const
    const workflow = await world().importWorkflow({
      name: 'Audit for sale',
      nodes: nodes.map(([name, type, typeVersion, parameters], at) => ({
        ...{ id: randomUUID(), webhookId: randomUUID(), name, type: `n8n-nodes-coinslot.${type}`, typeVersion },
        ...{ position: [at * 220, 0], parameters, credentials },
      })),
      connections: {
        [TRIGGER]: { main: [[{ node: 'Ask', type: 'main', index: 0 }]] },
        Ask: { main: [[{ node: 'Answer', type: 'main', index: 0 }]] },
      },
      settings: {},
    })
    await workflow.publish()
    const payment = await simulate(await formOf(workflow), { website: 'https://example.com' })
    await until(async () => (await paymentAt(payment)).requests.length === 1)
    const [request] = (await paymentAt(payment)).requests
    return {
      payment,
      request: request!,
      async end() {
        await until(async () => (await paymentAt(payment)).delivery?.answer != null)
        return JSON.parse((await paymentAt(payment)).delivery?.answer ?? '') as Record<string, unknown>
      },
    }
  }
}

const FIELDS = { fields: [{ label: 'Website', type: 'url', required: true }] }

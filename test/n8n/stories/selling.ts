import { randomUUID } from 'node:crypto'
import type { CheckoutView, PaymentView } from '../../../service/checkouts/views.ts'
import {
  BODY,
  deliver,
  formOf,
  untilRemoved,
  outputOf,
  paymentAt,
  published,
  redelivered,
  sign,
  simulate,
  type SignedBody,
} from '../payments.ts'
import { asJson, TRIGGER, until, type World } from '../world.ts'
import type { Answer } from '../n8n.ts'

/** What happens to the payments of customers once the workflow is published. */
export function sellingStory(world: () => World): void {
  describe('a published workflow', () => {
    it('runs for a simulated payment, with exactly the specified data, and its delivery is confirmed', async () => {
      const workflow = await published(world())
      const payment = await simulate(await formOf(workflow), { website: 'https://example.com', report: 'long' })
      const [run] = await workflow.runs(1)
      expect(run).toEqual({
        mode: 'webhook',
        data: outputOf(payment, { website: 'https://example.com', report: 'long' }),
      })
      await until(async () => (await paymentAt(payment)).delivery?.status === 'delivered')
    })

    it('runs for a payment by a wallet on the chain, once the recipient has the money', async () => {
      const { network } = world().chain
      const recipient = `0x${'5e'.repeat(20)}` as const
      const workflow = await published(world(), {
        ...{ testMode: false, network: 'base-sepolia', price: 0.25 },
        ...{ recipient: 'address', recipientAddress: recipient },
      })
      const form = await formOf(workflow)
      const buyer = await world().chain.payer(1_000_000n)
      const { v2 } = ((await asJson(form)).body as CheckoutView).paymentRequirements!
      const { signature, ...terms } = await buyer.authorize(network, v2.payTo, {
        value: BigInt(v2.amount),
      })
      const authorization = Object.fromEntries(Object.entries(terms).map(([name, value]) => [name, String(value)]))
      const { body }: { body: PaymentView } = await asJson(`${form}/pay`, 'POST', {
        input: { website: 'https://example.com' },
        paymentPayload: { x402Version: 2, accepted: v2, payload: { signature, authorization } },
      })
      await until(async () => {
        // Nothing else happens on this chain, and a payment is final some blocks later.
        await world().chain.mine()
        return (await paymentAt(body.payment)).payment.status === 'paid'
      })
      const { payment } = await paymentAt(body.payment)
      const [run] = await workflow.runs(1)
      expect(run).toEqual({ mode: 'webhook', data: outputOf(payment, { website: 'https://example.com' }) })
      expect(payment).toMatchObject({ payer: buyer.address, amount: 0.25, network: 'base-sepolia' })
      const receipt = (await world().chain.call('eth_getTransactionReceipt', payment.txHash)) as Answer
      expect(receipt.status).toBe('0x1')
      const read = { to: network.usdc.address, data: `0x70a08231${recipient.slice(2).padStart(64, '0')}` }
      expect(BigInt((await world().chain.call('eth_call', read, 'latest')) as string)).toBe(250_000n)
    })

    it.each([
      ['in its own parameter', { respond: 'lastNode' }, 1.1],
      ['as an option, in a workflow of the first version', { options: { respond: 'lastNode' } }, 1],
    ])('shows the customer the output of its last node where that was chosen %s', async (_, parameters, version) => {
      const workflow = await world().makeWorkflow(parameters, undefined, undefined, version)
      await workflow.publish()
      const payment = await simulate(await formOf(workflow), { website: 'https://example.com' })
      await until(async () => (await paymentAt(payment)).delivery?.answer !== null)
      const { delivery } = await paymentAt(payment)
      expect(JSON.parse(delivery?.answer ?? '')).toEqual({ report: 'Audit of https://example.com' })
    })

    it('runs what belongs to the product that was chosen, where each has an output', async () => {
      const workflow = await world().importWorkflow(twoProducts(world()))
      await workflow.publish()
      const form = await formOf(workflow)
      for (const [size, price] of [
        ['Short', 2],
        ['Long', 5],
      ] as const) {
        const payment = await simulate(form, { size })
        await until(async () => (await paymentAt(payment)).delivery?.answer != null)
        const { delivery } = await paymentAt(payment)
        expect(payment.amount).toBe(price)
        expect(JSON.parse(delivery?.answer ?? '')).toEqual({ report: `${size} audit` })
      }
      await workflow.unpublish()
    })

    it('keeps its link when n8n restarts, when it is edited, and when it is published again', async () => {
      const workflow = await published(world())
      const form = await formOf(workflow)
      await world().n8n.restart()
      await until(async () => (await fetch(workflow.address('webhook'))).status === 200)
      expect(await formOf(workflow)).toBe(form)

      await workflow.edit({ price: 7, productName: 'Larger audit' })
      await workflow.publish()
      await until(async () => (await asJson(form)).body.checkout?.price === 7)
      // 2.41 takes the old version's address down and puts the new one's up after it has answered.
      await until(async () => (await fetch(workflow.address('webhook'))).status === 200)
      expect(await formOf(workflow)).toBe(form)

      await workflow.unpublish()
      await untilRemoved(form)
      await workflow.publish()
      expect(await formOf(workflow)).toBe(form)
      const payment = await simulate(form, { website: 'https://example.com' })
      expect(await workflow.runs(1)).toMatchObject([{ data: { payment: { txHash: payment.txHash, amount: 7 } } }])
    })

    it('runs once for one payment, also when it is delivered again', async () => {
      const workflow = await published(world())
      const payment = await simulate(await formOf(workflow), { website: 'https://example.com' })
      await workflow.runs(1)
      const again = await redelivered(world(), workflow, payment)
      for (let time = 0; time < 3; time++) {
        expect(await deliver(workflow, again)).toEqual({ status: 200, body: { duplicate: true } })
      }
      await world().n8n.restart()
      await until(async () => (await fetch(workflow.address('webhook'))).status === 200)
      expect(await deliver(workflow, again)).toEqual({ status: 200, body: { duplicate: true } })
      expect(await workflow.runs()).toHaveLength(1)
    })

    it('runs for no delivery that is unsigned, forged or stale', async () => {
      const workflow = await published(world(), { testMode: false, network: 'base-sepolia', ...ANYBODY })
      const secret = (await workflow.storedData()).secret!
      const body = JSON.stringify(BODY)
      const now = Math.floor(Date.now() / 1000)
      expect(await asJson(workflow.address('webhook'), 'POST', BODY)).toMatchObject({
        status: 401,
        body: { error: expect.stringMatching('not signed') },
      })
      const wrong: [SignedBody, string][] = [
        [sign('whsec_Zm9yZ2VkZm9yZ2VkZm9yZ2VkZm9yZ2Vk', body, now), 'does not match'],
        [{ ...sign(secret, body, now), body: body.replace('5', '6') }, 'does not match'],
        [sign(secret, body, now - 301), 'five minutes old'],
      ]
      for (const [delivery, reason] of wrong) {
        expect(await deliver(workflow, delivery)).toMatchObject({
          status: 401,
          body: { error: expect.stringMatching(reason) },
        })
      }
      expect(await workflow.runs()).toEqual([])
    })

    it('answers 503 to a genuine delivery while the service is unreachable', async () => {
      const workflow = await published(world())
      const payment = await simulate(await formOf(workflow), { website: 'https://example.com' })
      await workflow.runs(1)
      const again = await redelivered(world(), workflow, payment)
      await world().outage(async () => {
        expect(await deliver(workflow, again)).toMatchObject({ status: 503, body: { code: 'claim_unavailable' } })
      })
      expect(await workflow.runs()).toHaveLength(1)
    })

    it('removes its form when unpublished, as a page and for a program', async () => {
      const workflow = await published(world())
      const form = await formOf(workflow)
      await workflow.unpublish()
      await untilRemoved(form)
      const page = await fetch(form, { headers: { accept: 'text/html' } })
      expect(page.status).toBe(404)
      expect(page.headers.get('content-type')).toMatch('text/html')
    })
  })
}

/** A short and a long audit, made by different nodes. */
function twoProducts({ credential }: World) {
  const sizes = ['Short', 'Long']
  const values = sizes.map((value, place) => ({ value, price: [2, 5][place] }))
  const parameters = {
    ...{ productName: 'Audit', pricing: 'byField', outputPerChoice: true, respond: 'lastNode', testMode: true },
    customerFields: { fields: [{ label: 'Size', type: 'select', choices: { values } }] },
  }
  return {
    name: 'Two audits for sale',
    nodes: [
      {
        ...{ id: randomUUID(), webhookId: randomUUID(), name: TRIGGER, position: [0, 0], parameters },
        ...{ type: 'n8n-nodes-coinslot.payToRunTrigger', typeVersion: 1.1, credentials: { coinslotApi: credential } },
      },
      ...sizes.map((size, place) => ({
        ...{ id: randomUUID(), name: size, type: 'n8n-nodes-base.set', typeVersion: 3.4, position: [260, place * 200] },
        parameters: { mode: 'raw', jsonOutput: JSON.stringify({ report: `${size} audit` }), options: {} },
      })),
    ],
    connections: { [TRIGGER]: { main: sizes.map((node) => [{ node, type: 'main', index: 0 }]) } },
    settings: {},
  }
}

const ANYBODY = { recipient: 'address', recipientAddress: `0x${'5e'.repeat(20)}` }

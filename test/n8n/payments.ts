import { createHmac } from 'node:crypto'
import type { PaymentView } from '../../service/checkouts/views.ts'
import type { Answer } from './n8n.ts'
import { asJson, until, type LastNode, type Workflow, type World } from './world.ts'

export async function published(
  world: World,
  parameters?: Record<string, unknown>,
  last?: LastNode,
): Promise<Workflow> {
  const workflow = await world.makeWorkflow(parameters, undefined, last)
  await workflow.publish()
  return workflow
}

/** Replays the delivery of a payment, as an attacker who recorded it could, signed anew. */
export async function redelivered(world: World, workflow: Workflow, payment: Payment): Promise<SignedBody> {
  const { deliveries } = (await world.get(`/deliveries?subject=${payment.id}`)) as { deliveries: [{ id: string }] }
  const { id } = deliveries[0]
  const { delivery } = (await world.get(`/deliveries/${id}`)) as { delivery: { body: string } }
  return sign((await workflow.storedData()).secret!, delivery.body, Math.floor(Date.now() / 1000), id)
}

type Payment = PaymentView['payment']

/** The response to an empty body. */
export interface FormLink {
  message: string
  form_url: string
  test_mode: boolean
}

export const BODY = {
  payment: {
    txHash: `0x${'ab'.repeat(32)}`,
    amount: 5,
    currency: 'USDC',
    payer: `0x${'cd'.repeat(20)}`,
    network: 'base',
    timestamp: 1_790_000_000,
  },
  input: { website: 'https://example.com' },
  metadata: {
    checkoutId: 'chk_0',
    receivedAt: '2026-09-21T12:53:20.000Z',
    paymentId: 'pay_0',
    test: false,
    receiptUrl: 'https://pay.example/receipts/pay_0?token=tok_0',
  },
}

/** The output that the workflow must get for a payment, made from the payment that the payer was shown. */
export function outputOf(payment: Payment, input: Record<string, unknown>): unknown {
  const { id: paymentId, txHash, amount, payer, network, checkoutId, paidAt, testMode: test, receiptUrl } = payment
  return {
    payment: { txHash, amount, currency: 'USDC', payer, network, timestamp: Math.floor(Date.parse(paidAt!) / 1000) },
    input,
    metadata: { checkoutId, receivedAt: paidAt, paymentId, test, receiptUrl },
  }
}

export async function formOf(workflow: Workflow, kind: 'webhook' | 'webhook-test' = 'webhook'): Promise<string> {
  return ((await asJson(workflow.address(kind), 'POST')).body as FormLink).form_url
}

export async function simulate(form: string, input: Record<string, unknown>): Promise<Payment> {
  const answer = await asJson(`${form}/pay`, 'POST', { input, simulate: true })
  // A held payment waits for its workflow.
  if (![200, 202].includes(answer.status))
    throw new Error(`paying answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return (answer.body as PaymentView).payment
}

export async function paymentAt(payment: Payment): Promise<PaymentView> {
  return (await asJson(payment.statusUrl)).body as PaymentView
}

export async function untilRemoved(form: string): Promise<void> {
  await until(async () => {
    const { status, body } = await asJson(form)
    return status === 404 && body.code === 'checkout_not_found'
  })
}

export interface SignedBody {
  headers: Record<string, string>
  body: string
}

export function sign(secret: string, body: string, timestamp: number, id = 'dlv_forged'): SignedBody {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const mac = createHmac('sha256', key)
    .update(`${id}.${String(timestamp)}.${body}`)
    .digest('base64')
  return {
    body,
    headers: { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${mac}` },
  }
}

export async function deliver(workflow: Workflow, { headers, body }: SignedBody): Promise<Answer> {
  const response = await fetch(workflow.address('webhook'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return { status: response.status, body: await response.json() }
}

import type { Answer, TestPerson, TestService } from '../harness/service.ts'
import { newId } from '../../service/kit/ids.ts'
import { ZERO } from '../../service/kit/money.ts'
import { createSale, report } from '../disputes/reports.ts'
import { addSale } from '../refunds/sales.ts'
import { promptBody } from '../marketplace/bodies.ts'

/** A user who has one of everything, and its ids. */
export interface Furnished {
  person: TestPerson
  ids: Record<Thing, string>
}

export type Thing =
  | 'key'
  | 'asset'
  | 'run'
  | 'agent'
  | 'approval'
  | 'checkout'
  | 'coupon'
  | 'delivery'
  | 'endpoint'
  | 'withdrawal'
  | 'payment'
  | 'dispute'
  | 'pass'
  | 'paywall'
  | 'tool'
  | 'provider'
  | 'file'
  | 'connection'

export async function furnished(service: TestService): Promise<Furnished> {
  return await furnish(service, await service.person())
}

/** A wallet that has paid ahead at the user's paywall. */
export const PREPAID_BY = `0x${'ab'.repeat(20)}`

/** Creates one of everything for a user. */
export async function furnish(service: TestService, person: TestPerson): Promise<Furnished> {
  const post = async (path: string, body: object, key = person.key): Promise<Answer['body']> => {
    const { status, body: answer, text } = await service.call('POST', `/v1${path}`, { key, body })
    if (status >= 300) throw new Error(`${path}: ${text}`)
    return answer
  }
  await post('/wallet/deposit', { amount: 10 })
  const { rda } = await post('/rda', promptBody({ pricing: { model: 'per-run', amount: 0.02 } }))
  const inputs = { article: 'Coins are round.' }
  const run = await post('/run', { rdaSlug: rda.slug, inputs, async: true })
  const { agent } = await post('/agents', { name: 'Buyer', approvalAbove: 0.001 })
  const { key, secret } = await post('/keys', { name: 'buyer', agentId: agent.id })
  const held = await post('/run', { rdaSlug: rda.slug, inputs }, String(secret))
  const { webhookEndpoint } = await post('/webhook-endpoints', {
    url: 'http://127.0.0.1:9/hook',
    events: ['run.completed'],
  })
  const { deliveryId } = await post(`/webhook-endpoints/${String(webhookEndpoint.id)}/test`, {})
  const { checkout } = await post('/checkouts', {
    callbackUrl: 'http://127.0.0.1:9/flow',
    product: { name: 'Audit' },
    price: 5,
    network: 'base-sepolia',
    recipient: `0x${'11'.repeat(20)}`,
    testMode: true,
    plans: [{ id: 'ten', name: 'Ten runs', price: 20, kind: 'runs', runs: 10 }],
  })
  const { coupon } = await post('/coupons', { code: 'FIRST', percent: 20 })
  const { withdrawal } = await post('/wallet/withdraw', { amount: 1, to: `0x${'22'.repeat(20)}` })
  const { paywall } = await post('/paywalls', {
    slug: 'weather',
    name: 'Weather',
    upstreamUrl: 'http://127.0.0.1:9',
    routes: [{ method: 'GET', path: '/*', pricing: { model: 'per-request', amount: 0.01 } }],
    network: 'base-sepolia',
    testMode: true,
  })
  await service.catalogue.importDocument(
    {
      ...{ environment: 'sandbox', ownerId: person.caller.user.id, slug: 'acme', name: null, description: null },
      ...{ simulated: true, source: null, pricing: { otherwise: ZERO }, server: null, auth: null, trusted: true },
    },
    JSON.stringify(DOCUMENT),
  )
  await service.calls.call({
    ...{
      slug: 'acme-ping',
      input: {},
      caller: person.caller,
      operation: newId('op', service.clock.now()),
      keyed: false,
    },
  })
  const { connection } = await post('/connections', { provider: 'acme', secret: 'a-key-of-their-own' })
  const uploaded = await service.call('POST', '/v1/files?name=guide.pdf', { key: person.key, raw: 'a guide' })
  const sale = await createSale(service, person, { subject: checkout.id })
  const { body: reported } = await report(service, sale)
  await addSale(service, person, { product: 'gate', subject: String(paywall.id), payer: PREPAID_BY })
  await service.testDatabase.statements.run(
    `INSERT INTO paywall_balance (paywall_id, network, payer, available, held, paid, drawn)
     VALUES ($1, 'base-sepolia', $2, 1000000, 0, 1000000, 0)`,
    [paywall.id, PREPAID_BY],
  )
  const ahead = { input: {}, simulate: true, choice: { plan: 'ten' } }
  const { body: ten } = await service.call('POST', `/p/${String(checkout.id)}/pay`, { body: ahead })
  return {
    person,
    ids: {
      key: key.id,
      asset: rda.id,
      run: run.runId,
      agent: agent.id,
      approval: held.approvalId,
      checkout: checkout.id,
      coupon: coupon.id,
      delivery: deliveryId,
      endpoint: webhookEndpoint.id,
      withdrawal: withdrawal.id,
      payment: sale.id,
      dispute: reported.dispute.id,
      pass: ten.payment.pass.id,
      paywall: paywall.id,
      tool: 'acme-ping',
      provider: 'acme',
      connection: connection.id,
      file: uploaded.body.file.id,
    },
  }
}

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Acme', version: '1' },
  servers: [{ url: 'http://127.0.0.1:9' }],
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  paths: {
    '/ping': {
      get: {
        operationId: 'ping',
        summary: 'Answers',
        security: [{ key: [] }],
        responses: { 200: { description: 'Well', content: { 'application/json': { schema: { type: 'string' } } } } },
      },
    },
  },
}

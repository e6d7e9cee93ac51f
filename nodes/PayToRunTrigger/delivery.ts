import type { IDataObject, INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow'
import { verify, type Signed, type Verdict } from '../shared/signature.ts'
import { advice } from '../shared/transport.ts'
import { isTestMode, PAY_TO_RUN, type Trigger } from './checkout.ts'
import { claim, isTooLate, type ClaimTime } from './claim.ts'
import { filesOf } from './files.ts'
import { recall, renewSecret } from './lifecycle.ts'
import { formPage } from './page.ts'
import { readPayment } from './payment.ts'
import { findFault } from './readiness.ts'

/**
 * Handles every request to the node's address. Nothing here throws, because n8n would run the workflow with the error.
 */
export async function receive(
  webhook: IWebhookFunctions,
  trigger: Trigger = PAY_TO_RUN,
  time: Partial<ClaimTime> = {},
): Promise<IWebhookResponseData> {
  const arrivedMs = Date.now()
  const kept = recall(webhook)
  const testMode = isTestMode(webhook)
  if (kept === undefined) {
    return answer(
      webhook,
      503,
      'no_checkout',
      'This workflow has no checkout. Publish it again, or execute the trigger again.',
    )
  }
  if (webhook.getWebhookName() === 'setup') {
    // An author who listens for a test event wants the form itself; on a published workflow the page shows the link to
    // share.
    if (webhook.getMode() === 'manual') return redirect(webhook, kept.formUrl)
    const product = webhook.getNodeParameter('productName') as string
    const fault = await findFault(webhook, kept, { nowMs: Date.now() })
    return page(webhook, formPage({ formUrl: kept.formUrl, product, testMode, fault: fault?.reason }))
  }

  const body = bytesOf(webhook)
  const headers = webhook.getHeaderData()
  const signed: Signed = {
    id: one(headers['webhook-id']),
    timestamp: one(headers['webhook-timestamp']),
    signature: one(headers['webhook-signature']),
    body,
  }
  if (signed.signature === undefined && isEmpty(body)) {
    const fault = await findFault(webhook, kept, { named: one(headers['coinslot-checkout']), nowMs: Date.now() })
    if (fault !== undefined) return answer(webhook, 410, fault.code, fault.reason)
    const message = testMode
      ? 'Waiting for a test payment. Open form_url, or send a body shaped like a payment to simulate one.'
      : 'Waiting for payments. Customers pay at form_url.'
    return { webhookResponse: { message, form_url: kept.formUrl, test_mode: testMode } }
  }

  const verdict = await judge(webhook, signed, { secret: kept.secret, trigger })
  if (!verdict.genuine && !testMode) return answer(webhook, 401, 'signature_refused', verdict.reason)
  const payment = readPayment(body, verdict)
  if (!payment.sound) {
    const [field, fault] = payment.fault
    return answer(webhook, 400, 'invalid_input', { error: `${field} ${fault}.`, details: { [field]: fault } })
  }
  const item = trigger.itemOf(payment.data)
  const place = trigger.outputFor?.(webhook, item) ?? 0
  if (!verdict.genuine) return run(outputs(place, { json: item }))
  // A retry of a payment that was simulated before test mode was switched off: the delivery is genuine, but no money
  // was paid.
  if (payment.simulated && !testMode) {
    return answer(webhook, 410, 'simulated', 'This payment was simulated, and the workflow is no longer in test mode.')
  }
  const deadline = AbortSignal.timeout(Math.max(0, arrivedMs + FILES_MS - Date.now()))
  const files = await filesOf(webhook, item, kept.formUrl, { deadline, answerMs: FILE_ANSWER_MS })
  if ('missing' in files) {
    // Before the claim, so that the delivery is tried again.
    webhook.logger.error(`Delivery ${verdict.id} is left for a later attempt. ${files.missing}`)
    return answer(webhook, 503, 'file_unavailable', files.missing)
  }
  const { binary } = files
  const whole = Object.keys(binary).length === 0 ? { json: item } : { json: item, binary }
  return await once(webhook, verdict.id, outputs(place, whole), { untilMs: arrivedMs + ANSWER_MS, ...time })
}

/** The service waits fifteen seconds for the answer to a delivery, and the claim comes after the files. */
const ANSWER_MS = 13_000
const FILES_MS = 8_000
const FILE_ANSWER_MS = 3_000

function outputs(place: number, item: INodeExecutionData): INodeExecutionData[][] {
  return [...Array.from({ length: place }, () => []), [item]]
}

/**
 * After a rotated secret's last day only the new secret signs, and n8n gets no notice of the change, so the node
 * fetches the secret from the service. Any client can send a request that does not match, so this happens at most once
 * a minute.
 */
async function judge(
  webhook: IWebhookFunctions,
  signed: Signed,
  { secret, trigger }: { secret: string; trigger: Trigger },
): Promise<Verdict> {
  const nowMs = Date.now()
  const verdict = verify(signed, [secret], nowMs)
  if (verdict.genuine || verdict.cause !== 'mismatch') return verdict
  const renewed = await renewSecret(webhook, nowMs, trigger)
  return renewed === undefined ? verdict : verify(signed, [secret, renewed], nowMs)
}

/**
 * Runs the workflow unless it has already run for this payment. The service decides with a claim on one row, because
 * this n8n may be one of several workers, may have restarted, or may have answered too late last time.
 */
async function once(
  webhook: IWebhookFunctions,
  deliveryId: string,
  data: INodeExecutionData[][],
  time: ClaimTime,
): Promise<IWebhookResponseData> {
  if (isTooLate(time)) {
    return answer(webhook, 503, 'too_late', 'This n8n took too long to prepare the delivery. It is tried again.')
  }
  const result = await claim(webhook, deliveryId, time)
  const claimed = result.reached && result.status === 200 ? result.body['claimed'] : undefined
  if (claimed === true) return run(data)
  if (claimed === false) return { webhookResponse: { duplicate: true } }
  const reason = advice(result)
  webhook.logger.error(`Delivery ${deliveryId} could not be claimed and is left for a later attempt. ${reason}`)
  return answer(webhook, 503, 'claim_unavailable', reason)
}

function run(workflowData: INodeExecutionData[][]): IWebhookResponseData {
  return { webhookResponse: { received: true }, workflowData }
}

function answer(webhook: IWebhookFunctions, status: number, code: string, error: string | IDataObject) {
  const body = typeof error === 'string' ? { error } : error
  webhook
    .getResponseObject()
    .status(status)
    .json({ ...body, code })
  return { noWebhookResponse: true }
}

function redirect(webhook: IWebhookFunctions, url: string): IWebhookResponseData {
  webhook.getResponseObject().status(302).set({ location: url, 'cache-control': 'no-store' }).end()
  return { noWebhookResponse: true }
}

function page(webhook: IWebhookFunctions, html: string): IWebhookResponseData {
  webhook
    .getResponseObject()
    .status(200)
    .set({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    .send(html)
  return { noWebhookResponse: true }
}

/** The raw bytes, since the signature covers those and not what n8n parsed and would serialize again. */
function bytesOf(webhook: IWebhookFunctions): Buffer {
  const { rawBody } = webhook.getRequestObject() as { rawBody?: unknown }
  return Buffer.isBuffer(rawBody) ? rawBody : Buffer.alloc(0)
}

/** Some clients cannot send an empty body and send `{}` instead. */
function isEmpty(body: Buffer): boolean {
  return body.length <= 16 && ['', '{}'].includes(body.toString().replace(/\s/g, ''))
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(' ') : header
}

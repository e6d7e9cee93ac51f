import type { RefundTerms } from './model.ts'

/*
 * The extension `refund` of x402 version 2, a proposal: where and how long a payer can ask for the money back. It leaves
 * open what exactly the payer signs, so the text is part of the declaration (`service/disputes/rules.ts` writes it).
 */

const NAME = 'refund'

/** The declaration in a 402. */
export function refundExtension(info: RefundTerms) {
  return { [NAME]: { info, schema: SCHEMA, payerSignature: SIGNATURE } }
}

/** How `payerSignature` of a request is made. A payment's token in X-Payment-Token may replace it. */
const SIGNATURE = {
  type: 'eip191',
  expiresAt: 'A time within an hour, in the body of the request',
  text: [
    '{host of refundEndpoint} asks you to sign a refund request.',
    '',
    'URI: {refundEndpoint}',
    'Transaction: {txHash}',
    'Network: {network}',
    'Payment: {paymentId, or none}',
    'Amount: {amount}',
    'Reason: {reason}',
    'Refund To: {refundTo in lower case, or payer}',
    'Idempotency Key: {idempotencyKey}',
    'Expiration Time: {expiresAt in UTC with milliseconds}',
  ].join('\n'),
} as const

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    refundEndpoint: { type: 'string', format: 'uri' },
    windowSeconds: { type: 'integer', minimum: 0 },
    partialRefunds: { type: 'boolean' },
    policyUrl: { type: 'string', format: 'uri' },
  },
  required: ['refundEndpoint', 'windowSeconds', 'partialRefunds'],
} as const

import { z } from 'zod'
import { reply, route, type AnyRoute } from '../api/route.ts'
import type { Address } from '../chain/model.ts'
import { choiceBody, inputBody, receiptBody } from '../checkouts/service/bodies.ts'
import { recipientAddress } from '../kit/address.ts'
import { invalid } from '../kit/errors.ts'
import { addressGroup } from '../kit/http.ts'
import { isSecret, SECRET_LENGTH } from '../kit/ids.ts'
import { amountOut, timestamp } from '../kit/wire.ts'
import { proofIn } from '../sales/service/proof.ts'
import type { PaymentAddresses } from './service/addresses.ts'

/** `/p/{chk}/addresses`, for buyers who pay by a transfer from anywhere. */
export function paymentAddressRoutes(addresses: PaymentAddresses): AnyRoute[] {
  const common = { tag: 'Hosted checkout', auth: 'anyone', limit: 'pay' } as const
  const one = {
    params: z.object({ chk: z.string(), adr: z.string() }),
    errors: { 404: 'There is no such address at this checkout, or the token is another one.' },
  } as const
  return [
    route({
      ...common,
      method: 'post',
      path: '/:chk/addresses',
      summary: 'An address at which this order is paid by a plain transfer of USDC, from any wallet or exchange',
      idempotent: 'payer',
      bodyBytesMax: 65_536,
      params: z.object({ chk: z.string() }),
      body: z.strictObject({ input: inputBody.optional(), choice: choiceBody.optional(), ...receiptBody }).optional(),
      answers: {
        201: z.object({
          address: addressOut,
          token: z
            .string()
            .meta({ description: 'Proves that the order is yours: keep it. Send it in X-Payment-Token' }),
        }),
      },
      errors: {
        400: 'The input is refused, or the Idempotency-Key is too short to be a secret.',
        404: 'The checkout does not exist or has expired.',
        409: 'This order cannot be paid by a transfer.',
        503: 'The workflow is not available; nothing is charged.',
      },
      async handle({ params, body, operation, address, header }) {
        assertSecretKey(header('idempotency-key'))
        const { input = {}, choice = {}, email, language = 'en' } = body ?? {}
        const receipt = email === undefined ? null : { email, language }
        const order = { input, choice, receipt, from: addressGroup(address) }
        return { ...reply(201, await addresses.open(params.chk, order, operation)), headers: FRESH }
      },
    }),
    route({
      ...common,
      ...one,
      method: 'get',
      path: '/:chk/addresses/:adr',
      summary: 'What has arrived at such an address, and how its order stands, with its token in X-Payment-Token',
      answers: { 200: z.object({ address: addressOut }) },
      async handle({ params, header }) {
        const found = await addresses.view(params.chk, { id: params.adr, token: proofIn(header).token })
        return { ...reply(200, { address: found }), headers: FRESH }
      },
    }),
    route({
      ...common,
      ...one,
      method: 'post',
      path: '/:chk/addresses/:adr/return',
      summary: 'Send what is left at such an address to an address of yours: too much, too little or too late',
      body: z.strictObject({
        to: recipientAddress
          .transform((text) => text as Address)
          .meta({ description: 'Your own address, not that of an exchange’s transfer' }),
      }),
      answers: { 200: z.object({ address: addressOut }) },
      errors: {
        ...one.errors,
        409: 'The order is being paid with this money, or there is nothing to return that the network has confirmed.',
      },
      async handle({ params, body, header }) {
        const proof = { id: params.adr, token: proofIn(header).token }
        const found = await addresses.giveBack(params.chk, proof, body.to)
        return { ...reply(200, { address: found }), headers: FRESH }
      },
    }),
  ]
}

/** The key names the address, and the answer has its token: who guesses the key can take the money that is there. */
function assertSecretKey(key: string | undefined): void {
  if (key === undefined || isSecret(key)) return
  const length = String(SECRET_LENGTH)
  throw invalid({ 'Idempotency-Key': `must have at least ${length} random characters here, as a UUID has` })
}

const FRESH = { 'Cache-Control': 'no-store' }

const addressOut = z
  .object({
    id: z.string(),
    checkoutId: z.string(),
    status: z.enum(['waiting', 'partly_paid', 'paying', 'paid', 'expired', 'failed']).meta({
      description:
        '`partly_paid`: not all of it has arrived. `expired`: it takes no payment any more. `failed`: the order could not be paid',
    }),
    network: z.string(),
    chainId: z.int(),
    address: z.string().meta({ description: 'Send USDC on this network here, and nothing else' }),
    amount: amountOut.meta({ description: 'What the order costs' }),
    received: amountOut,
    missing: amountOut.meta({ description: 'What still has to arrive' }),
    link: z.string().nullable().meta({ description: 'Opens a wallet with the transfer filled in (EIP-681)' }),
    qr: z.string().nullable().meta({ description: 'The same as a QR code, in SVG' }),
    left: amountOut.meta({ description: 'Your money that is at the address' }),
    reason: z.string().nullable(),
    payment: z
      .object({ id: z.string(), token: z.string() })
      .nullable()
      .meta({ description: 'The payment of the order, once it is paid: `GET /p/{chk}/payments/{id}`' }),
    returns: z.array(
      z.object({
        to: z.string(),
        amount: amountOut,
        status: z.enum(['returning', 'returned', 'failed']),
        explorerUrl: z.string().nullable(),
      }),
    ),
    returnMinimum: amountOut.meta({ description: 'Less than this is not returned' }),
    expiresAt: timestamp,
    createdAt: timestamp,
  })
  .meta({ id: 'PaymentAddress' })

import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { timestamp } from '../../kit/wire.ts'
import { UNANSWERED } from '../model.ts'
import type { Disputes } from '../service/disputes.ts'
import { reportBody, reportOut, requestBody, requestOut, toClaim, toReportOut, toRequestOut } from './bodies.ts'

const common = { tag: 'Receipts', auth: 'anyone', limit: 'pay' } as const
const FRESH = { 'Cache-Control': 'no-store' }
const token = z.object({ token: z.string().optional().meta({ description: 'The token from the receipt link' }) })

/** `/receipts/…`, for people who paid, and for programs that did. */
export function buyerRoutes(disputes: Disputes): AnyRoute[] {
  return [
    route({
      ...common,
      method: 'post',
      path: '/refunds',
      summary: 'For agents: ask for a refund by the x402 extension `refund`',
      bodyBytesMax: BODY_BYTES_MAX,
      body: requestBody,
      answers: { 200: requestOut },
      errors: {
        409: 'The key was used for another request.',
        410: 'The signature has expired.',
      },
      async handle({ body, header }) {
        const answer = await disputes.ask(toClaim(body, header('x-payment-token') ?? null))
        return { ...reply(200, toRequestOut(answer)), headers: FRESH }
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/refunds/:key',
      summary: 'What became of a refund request, by its idempotency key',
      params: z.object({ key: z.string() }),
      answers: { 200: requestOut },
      errors: { 404: 'There is no request with this key.' },
      async handle({ params }) {
        return { ...reply(200, toRequestOut(await disputes.look(params.key.toLowerCase()))), headers: FRESH }
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/:pay/dispute',
      summary: 'The report of a problem with a payment, for its buyer; or until when one can be made',
      params: z.object({ pay: z.string() }),
      query: token,
      answers: {
        200: z.object({
          dispute: reportOut.nullable(),
          reportUntil: timestamp.nullable().meta({ description: 'Null where nothing can be reported' }),
          ifUnanswered: z
            .object({ days: z.int(), outcome: z.enum(UNANSWERED) })
            .nullable()
            .meta({ description: 'What happens to a report that the seller does not answer in so many days' }),
        }),
      },
      errors: { 404: 'There is no such payment, or the token belongs to another one.' },
      async handle({ params, query, header }) {
        const { dispute, reportable } = await disputes.status(
          params.pay,
          header('x-payment-token') ?? query.token ?? null,
        )
        const body = {
          dispute: dispute === null ? null : toReportOut(dispute),
          reportUntil: reportable?.until.toISOString() ?? null,
          ifUnanswered: reportable === null ? null : { days: reportable.answerDays, outcome: reportable.unanswered },
        }
        return { ...reply(200, body), headers: FRESH }
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/:pay/dispute',
      summary: 'Report a problem with a payment, with its token or signed by the wallet that paid',
      bodyBytesMax: BODY_BYTES_MAX,
      params: z.object({ pay: z.string() }),
      query: token,
      body: reportBody,
      answers: { 200: z.object({ dispute: reportOut }), 201: z.object({ dispute: reportOut }) },
      errors: {
        404: 'There is no such payment, or this does not prove that it is yours.',
        409: 'The time to report a problem is over, or nothing was paid.',
        410: 'The signature has expired.',
      },
      async handle({ params, query, header, body: { reason, text = null, signature, expiresAt } }) {
        const proof = {
          token: header('x-payment-token') ?? query.token ?? null,
          signed:
            signature === undefined || expiresAt === undefined ? null : { reason, proof: { signature, expiresAt } },
        }
        const report = { reason, text, amount: null, openedBy: 'buyer', request: null } as const
        const { dispute, isNew } = await disputes.report(params.pay, proof, report)
        return { ...reply(isNew ? 201 : 200, { dispute: toReportOut(dispute) }), headers: FRESH }
      },
    }),
  ]
}

const BODY_BYTES_MAX = 32_768

import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { passBody, passOut } from '../../passes/service/shown.ts'
import { timestamp } from '../../kit/wire.ts'
import type { CheckoutPages } from '../ports.ts'
import type { Checkouts } from '../service/checkouts.ts'
import type { ChatView } from '../service/chat.ts'
import { commonOf, FRESH } from './answers.ts'

/** What was said in a chat. A message is sent as every run of a pass is: to the pay call. */
export function chatRoute(checkouts: Checkouts, pages: CheckoutPages, now: () => Date): AnyRoute {
  return route({
    ...commonOf(pages),
    method: 'get',
    path: '/:chk/chat',
    summary: 'The latest turns of a chat, for the holder of its pass: with its token in X-Pass',
    limit: 'pay',
    params: z.object({ chk: z.string() }),
    answers: { 200: chatOut },
    errors: { 404: 'The checkout does not exist, is no chat, or has no such pass.' },
    async handle({ params, header }) {
      const { pass, turns } = await checkouts.chatOf(params.chk, header('x-pass') ?? '')
      return { ...reply(200, { pass: passBody(pass, now()), turns: turns.map(toTurnBody) }), headers: FRESH }
    },
  })
}

const turnOut = z.object({
  turn: z.int().meta({ description: 'Counts from 1' }),
  status: z.enum(['working', 'answered', 'failed']).meta({ description: 'A turn that failed is given back' }),
  message: z.string(),
  answer: z.string().nullable(),
  isCut: z.boolean().meta({ description: 'Whether the answer is longer: its payment has all of it' }),
  paymentId: z.string(),
  token: z.string().meta({ description: 'Of the payment: follows it, and fetches its answer' }),
  receiptUrl: z.string(),
  at: timestamp,
})

const chatOut = z
  .object({
    pass: passOut,
    turns: z.array(turnOut).meta({ description: 'The latest, oldest first: at most 50, and 64 KB' }),
  })
  .meta({ id: 'Chat' })

function toTurnBody({ number, saleId, createdAt, ...turn }: ChatView['turns'][number]): z.input<typeof turnOut> {
  const { status, message, answer, isCut, token, receiptUrl } = turn
  return {
    turn: number,
    status,
    message,
    answer,
    isCut,
    paymentId: saleId,
    token,
    receiptUrl,
    at: createdAt.toISOString(),
  }
}

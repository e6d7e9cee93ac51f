import { z } from 'zod'
import { presentedAs, presentedIn, presentsPayment, type Headers } from '../../x402/payload.ts'
import { reply, route, type AnyRoute, type Reply, type ServerEvent } from '../../api/route.ts'
import { TOKEN } from '../../sales/service/proof.ts'
import { invalid } from '../../kit/errors.ts'
import type { PaymentView } from '../model.ts'
import type { CheckoutPages } from '../ports.ts'
import type { Checkouts } from '../service/checkouts.ts'
import { isObject, payBody, paymentOut, shown } from './bodies.ts'
import { requireAgain, sold, toRequired, type Dialogue } from './x402.ts'

/** `/p/{chk}`, for buyers: people in a browser, or agents. */
export function payerRoutes(checkouts: Checkouts, pages: CheckoutPages, seller: Omit<Dialogue, 'header'>): AnyRoute[] {
  const common = commonOf(pages)
  return [
    route({
      ...common,
      method: 'get',
      path: '/:chk',
      summary: 'A checkout: the payment page for a browser, JSON for a program',
      params: z.object({ chk: z.string() }),
      query: z.object({
        payment: z.string().optional().meta({ description: 'For a browser: show the result of this payment' }),
        token: z.string().optional().meta({ description: 'The token of this payment' }),
      }),
      answers: { 200: z.object({ checkout: z.looseObject({}), available: z.boolean() }) },
      errors: GONE,
      async handle({ params, query, wantsPage, header, operation }) {
        if (presentsPurchase(header)) {
          return await buy(checkouts, params.chk, { input: {}, operation, dialogue: { ...seller, header } })
        }
        const bought =
          wantsPage && query.payment !== undefined ? await checkouts.receipt(query.payment, query.token ?? null) : null
        if (bought?.payment.payment.checkoutId === params.chk) {
          return { ...reply(200, null), page: pages.payment(bought.view, bought.payment), headers: FRESH }
        }
        const view = await checkouts.view(params.chk)
        if (wantsPage) return { ...reply(200, null), page: pages.checkout(view), headers: FRESH }
        return { ...reply(200, view), headers: FRESH }
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/:chk',
      summary: 'For agents: send the input in the body and pay by x402, version 1 or 2',
      idempotent: 'payer',
      limit: 'pay',
      bodyBytesMax: BODY_BYTES_MAX,
      params: z.object({ chk: z.string() }),
      body: z.unknown(),
      sells: { description: 'The product of the checkout, bought once' },
      answers: { 200: paymentOut, 202: paymentOut },
      errors: {
        ...GONE,
        402: 'The price for both versions of x402, or the reason why the payment is refused.',
        409: 'The authorization was already used for another purchase.',
      },
      async handle({ params, body, header, operation }) {
        const input = body ?? {}
        if (!isObject(input)) throw invalid({ body: 'must be an object with the fields by name' })
        const dialogue = { ...seller, header }
        if (presentsPurchase(header)) return await buy(checkouts, params.chk, { input, operation, dialogue })
        return await toRequired(await checkouts.offer(params.chk, input), dialogue)
      },
    }),
    ...paymentRoutes(checkouts, pages),
  ]
}

function paymentRoutes(checkouts: Checkouts, pages: CheckoutPages): AnyRoute[] {
  const common = commonOf(pages)
  return [
    route({
      ...common,
      method: 'post',
      path: '/:chk/pay',
      summary: 'Pay with a signed authorization, or simulate it in test mode',
      idempotent: 'payer',
      limit: 'pay',
      bodyBytesMax: BODY_BYTES_MAX,
      params: z.object({ chk: z.string() }),
      body: payBody,
      answers: { 200: paymentOut, 202: paymentOut },
      errors: {
        ...GONE,
        402: 'The authorization was refused for the reason in `reason`.',
        409: 'The authorization was already used for another purchase.',
        410: 'The authorization, the quote or the order has expired.',
      },
      async handle({ params, body, operation }) {
        const purchase = {
          input: body.input ?? {},
          ...(body.order === undefined ? {} : { signedOrder: body.order }),
          named: (field: string) => `input.${field}`,
          presented: body.paymentPayload === undefined ? null : presentedAs('paymentPayload', body.paymentPayload),
          ...(body.outcome === undefined ? {} : { outcome: body.outcome }),
          quoteId: body.quoteId ?? null,
          token: body.token ?? null,
          paymentId: body.paymentId ?? null,
        }
        return answered(await checkouts.pay(params.chk, purchase, operation))
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/:chk/payments/:pay',
      summary: 'Status of a payment and its delivery; as server-sent events until both are final',
      params: z.object({ chk: z.string(), pay: z.string() }),
      query: z.object({
        token: z
          .string()
          .optional()
          .meta({ description: 'The token of the payment; without it, only the status is shown' }),
      }),
      answers: { 200: paymentOut },
      errors: { 404: 'No such payment at this checkout.' },
      async handle({ params, query, header, wantsPage }) {
        const { chk, pay } = params
        const token = header('x-payment-token') ?? query.token ?? null
        if (header('accept')?.includes('text/event-stream') === true) {
          const follow = await checkouts.follow(chk, pay, token)
          return { ...reply(200, null), events: (gone) => toEvents(follow(gone)) }
        }
        const view = await checkouts.payment(chk, pay, token)
        if (!wantsPage) return { ...reply(200, shown(view)), headers: FRESH }
        const bought = await checkouts.receipt(pay, token)
        const page = pages.payment(bought?.view ?? (await checkouts.viewOrNull(chk)), view)
        return { ...reply(200, null), page, headers: FRESH }
      },
    }),
  ]
}

function commonOf(pages: CheckoutPages) {
  return {
    tag: 'Hosted checkout',
    auth: 'anyone',
    errorPage: (error: Parameters<CheckoutPages['missing']>[0]) => pages.missing(error),
  } as const
}

interface Purchase {
  input: Readonly<Record<string, unknown>>
  operation: Parameters<Checkouts['pay']>[2]
  dialogue: Dialogue
}

/** Pays, or fetches what was paid for, by a request's headers. */
async function buy(checkouts: Checkouts, chk: string, { input, operation, dialogue }: Purchase): Promise<Reply> {
  const { dialects, header } = dialogue
  const proof = proofIn(header)
  try {
    const presented = presentedIn(header)
    const named = (field: string): string => field
    const purchase = { input, presented, ...proof, named, quoteId: null, waits: {} }
    const view = await checkouts.pay(chk, purchase, operation)
    return await sold(answered(view), { dialects, presented, resource: checkouts.addressOf(chk) })
  } catch (error) {
    return await requireAgain(error, dialogue, () => checkouts.offer(chk, input))
  }
}

function presentsPurchase(header: Headers): boolean {
  return presentsPayment(header) || header('x-payment-id') !== undefined
}

/** 202 while settlement is pending, which must never be taken for a failure. */
function answered(view: PaymentView): Reply {
  const { status, id, token } = view.payment
  const proof = token === null ? {} : { 'X-Payment-ID': id, 'X-Payment-Token': token }
  const headers = { ...FRESH, ...proof }
  return { ...reply(status === 'created' || status === 'settling' ? 202 : 200, shown(view)), headers }
}

/** The proof with which a buyer fetches an earlier payment. */
function proofIn(header: (name: string) => string | undefined) {
  const token = header('x-payment-token') ?? null
  if (token !== null && !TOKEN.test(token)) {
    throw invalid({ 'x-payment-token': 'must be tok_ and 43 characters' }, 'invalid_payment')
  }
  return { token, paymentId: header('x-payment-id') ?? null }
}

async function* toEvents(views: AsyncIterable<PaymentView>): AsyncIterable<ServerEvent> {
  for await (const view of views) yield { event: 'state', data: view }
}

/** The quote in the answer expires after ten minutes, and a browser gets a page at the same address. */
const FRESH = { 'Cache-Control': 'no-store', Vary: 'Accept' }
const GONE = {
  404: 'The checkout does not exist or has expired.',
  503: 'The workflow is not available; nothing is charged.',
}
const BODY_BYTES_MAX = 65_536

import { z } from 'zod'
import type { Headers } from '../../x402/model.ts'
import { presentedAs, presentedIn, presentsPayment } from '../../x402/payload.ts'
import { fileBytes, reply, route, type AnyRoute, type Reply, type ServerEvent } from '../../api/route.ts'
import type { ReceiptTo } from '../../sales/model.ts'
import { answerUnpaid } from '../../sales/service/door.ts'
import { proofIn } from '../../sales/service/proof.ts'
import { invalid } from '../../kit/errors.ts'
import { addressGroup } from '../../kit/http.ts'
import { amountOut } from '../../kit/wire.ts'
import type { Address } from '../../chain/model.ts'
import { passBody, passOut } from '../../passes/service/shown.ts'
import type { Claim } from '../../passes/model.ts'
import type { Choice } from '../model.ts'
import type { CheckoutView, PaymentView } from '../views.ts'
import type { CheckoutPages, Embed } from '../ports.ts'
import type { Checkouts } from '../service/checkouts.ts'
import type { Chosen } from '../service/product.ts'
import { checkoutMissing } from '../errors.ts'
import { commonOf, FRESH, GONE, paymentOut, shown } from './answers.ts'
import { isObject, langQuery, payBody, PAYER_BYTES_MAX } from './bodies.ts'
import { chatRoute } from './chat.ts'
import { draftRoutes } from './drafts.ts'
import { qrOf } from '../service/presenter.ts'
import { refusalRoute } from './requests.ts'
import { choiceQuery, linesOut, quoteBody, toChosen } from './price.ts'
import { uploadRoutes } from './uploads.ts'
import { requireAgain, sold, type Dialogue } from './x402.ts'

/** `/p/{chk}`, for buyers: people in a browser, or agents. */
export function payerRoutes(
  checkouts: Checkouts,
  pages: CheckoutPages,
  seller: Omit<Dialogue, 'header'> & { now: () => Date },
): AnyRoute[] {
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
        embed: z.string().max(300).optional().meta({ description: 'For a frame: the origin of the page around it' }),
        tab: z.string().max(1).optional().meta({ description: 'With embed: for a tab that the frame opens' }),
        draft: z.string().max(100).optional().meta({ description: 'For a browser: what another device has stored' }),
        ...choiceQuery,
        lang: langQuery,
      }),
      answers: { 200: z.object({ checkout: z.looseObject({}), available: z.boolean() }) },
      errors: GONE,
      async handle({ params, query, wantsPage, reader, header, operation, address }) {
        if (presentsPurchase(header)) {
          const chosen = toChosen({}, addressGroup(address), choiceIn(query))
          return await buy(checkouts, params.chk, { chosen, operation, dialogue: { ...seller, header } })
        }
        const embed = wantsPage ? await embedIn(checkouts, params.chk, query) : null
        const bought =
          wantsPage && query.payment !== undefined ? await checkouts.receipt(query.payment, query.token ?? null) : null
        if (bought?.payment.payment.checkoutId === params.chk) {
          return {
            ...reply(200, null),
            page: pages.payment(bought.view, bought.payment, reader, embed),
            headers: FRESH,
          }
        }
        if (!wantsPage) return { ...reply(200, await checkouts.view(params.chk)), headers: FRESH }
        if (embed !== null && (await checkouts.nameOf(params.chk)) === null) {
          const { code, message: sentence } = checkoutMissing()
          const page = pages.missing({ status: 404, code, sentence, checkout: params.chk }, reader, embed)
          return { ...reply(404, null), page, headers: FRESH }
        }
        const view = await viewOfPage(checkouts, params.chk, addressGroup(address))
        checkouts.openings.count(view.checkout.id, { header, address })
        return { ...reply(200, null), page: pages.checkout(view, reader, embed), headers: FRESH }
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/:chk',
      summary: 'For agents: send the input in the body and pay by x402, version 1 or 2',
      idempotent: 'payer',
      limit: 'pay',
      bodyBytesMax: PAYER_BYTES_MAX,
      params: z.object({ chk: z.string() }),
      query: z.object(choiceQuery),
      body: z.unknown(),
      sells: { description: 'The product of the checkout, bought once' },
      answers: { 200: paymentOut, 202: paymentOut },
      errors: {
        ...GONE,
        402: 'The price for both versions of x402, or the reason why the payment is refused.',
        409: 'The authorization was already used for another purchase.',
      },
      async handle({ params, query, body, header, operation, address }) {
        const sent = body ?? {}
        if (!isObject(sent)) throw invalid({ body: 'must be an object with the fields by name' })
        const chosen = toChosen(sent, addressGroup(address), choiceIn(query))
        const dialogue = { ...seller, header }
        if (presentsPurchase(header)) return await buy(checkouts, params.chk, { chosen, operation, dialogue })
        return await answerUnpaid(await checkouts.offer(params.chk, chosen), seller, header)
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/:chk/qr.svg',
      summary: "The payment page's address as a QR code, for print and for other screens",
      params: z.object({ chk: z.string() }),
      answers: { 200: z.string().meta({ description: 'A picture: image/svg+xml' }) },
      errors: { 404: 'The checkout does not exist or has expired.' },
      async handle({ params: { chk } }) {
        const { checkout } = await checkouts.view(chk)
        // The picture holds the address alone, which never changes; a day later it shows whether there still is one.
        const headers = { 'Cache-Control': 'public, max-age=86400', 'Cross-Origin-Resource-Policy': 'cross-origin' }
        const page = { type: 'image/svg+xml; charset=utf-8', content: qrOf(checkout.url), headers }
        return { ...reply(200, null), page }
      },
    }),
    ...priceRoutes(checkouts, pages, seller.now),
    chatRoute(checkouts, pages, seller.now),
    ...draftRoutes(checkouts, pages),
    ...uploadRoutes(checkouts, pages),
    ...paymentRoutes(checkouts, pages),
    refusalRoute(checkouts, pages, seller.now),
  ]
}

/** With the price that the page begins with: of a chat, that of its first plan. A program is quoted a single turn. */
async function viewOfPage(checkouts: Checkouts, chk: string, from: string): Promise<CheckoutView> {
  const view = await checkouts.view(chk)
  const [first] = view.checkout.chat === null ? [] : view.checkout.plans
  if (first === undefined || !view.available) return view
  return { ...view, ...(await checkouts.quote(chk, { input: {}, choice: { plan: first.id }, from })) }
}

/** What a choice costs, and what a customer has already. */
function priceRoutes(checkouts: Checkouts, pages: CheckoutPages, now: () => Date): AnyRoute[] {
  const common = commonOf(pages)
  return [
    route({
      ...common,
      method: 'post',
      path: '/:chk/quote',
      summary: 'What a choice costs, and the terms to sign for it; the price is valid for ten minutes',
      limit: 'pay',
      bodyBytesMax: PAYER_BYTES_MAX,
      params: z.object({ chk: z.string() }),
      body: quoteBody,
      answers: { 200: z.object({ quote: z.looseObject({}), total: amountOut, lines: linesOut }) },
      errors: GONE,
      async handle({ params, body, address }) {
        const { input = {}, choice = {} } = body ?? {}
        const chosen = { input, choice, from: addressGroup(address) }
        return { ...reply(200, await checkouts.quote(params.chk, chosen)), headers: FRESH }
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/:chk/pass',
      summary: 'What is left of a pass, with its token in X-Pass; or of the trial of a wallet',
      params: z.object({ chk: z.string() }),
      query: z.object({
        address: z
          .string()
          .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address')
          .transform((text) => text.toLowerCase() as Address)
          .optional()
          .meta({ description: 'The wallet whose trial runs are counted' }),
      }),
      answers: { 200: z.object({ pass: passOut.nullable(), trialRunsLeft: z.int().nullable() }) },
      errors: { 404: 'The checkout does not exist, or it has no such pass.' },
      async handle({ params, query: { address = null }, header }) {
        const { pass, trialRunsLeft } = await checkouts.passOf(params.chk, { token: header('x-pass') ?? null, address })
        const body = { pass: pass === null ? null : passBody(pass, now()), trialRunsLeft }
        return { ...reply(200, body), headers: FRESH }
      },
    }),
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
      bodyBytesMax: PAYER_BYTES_MAX,
      params: z.object({ chk: z.string() }),
      body: payBody,
      answers: { 200: paymentOut, 202: paymentOut },
      errors: {
        ...GONE,
        402: 'The authorization was refused for the reason in `reason`.',
        409: 'The authorization was already used for another purchase.',
        410: 'The authorization, the quote or the order has expired.',
      },
      async handle({ params, body, operation, address }) {
        const purchase = {
          input: body.input ?? {},
          choice: body.choice ?? {},
          from: addressGroup(address),
          ...(body.order === undefined ? {} : { signedOrder: body.order }),
          named: (field: string) => `input.${field}`,
          presented: body.paymentPayload === undefined ? null : presentedAs('paymentPayload', body.paymentPayload),
          ...claimOf(body),
          ...(body.outcome === undefined ? {} : { outcome: body.outcome }),
          quoteId: body.quoteId ?? null,
          token: body.token ?? null,
          paymentId: body.paymentId ?? null,
          ...receiptOf(body),
          free: body.free === true,
          onPage: true,
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
        lang: langQuery,
      }),
      answers: { 200: paymentOut },
      errors: { 404: 'No such payment at this checkout.' },
      async handle({ params, query, header, wantsPage, reader }) {
        const { chk, pay } = params
        const token = header('x-payment-token') ?? query.token ?? null
        if (header('accept')?.includes('text/event-stream') === true) {
          const follow = await checkouts.follow(chk, pay, token)
          return { ...reply(200, null), events: (gone) => toEvents(follow(gone)) }
        }
        const view = await checkouts.payment(chk, pay, token)
        if (!wantsPage) return { ...reply(200, shown(view)), headers: FRESH }
        const bought = await checkouts.receipt(pay, token)
        const page = pages.payment(bought?.view ?? (await checkouts.viewOrNull(chk)), view, reader)
        return { ...reply(200, null), page, headers: FRESH }
      },
    }),
    fileRoute(checkouts, pages),
  ]
}

/** Only a site that the owner allowed gets a page that can be framed. */
async function embedIn(
  checkouts: Checkouts,
  chk: string,
  { embed, tab }: { embed?: string | undefined; tab?: string | undefined },
): Promise<Embed | null> {
  const origin = embed === undefined ? null : await checkouts.embedder(chk, embed)
  return origin === null ? null : { origin, tab: tab !== undefined }
}

/** The file that a payment bought. */
function fileRoute(checkouts: Checkouts, pages: CheckoutPages): AnyRoute {
  return route({
    ...commonOf(pages),
    method: 'get',
    path: '/:chk/payments/:pay/file',
    summary: 'Download the file that a payment bought',
    limit: 'pay',
    params: z.object({ chk: z.string(), pay: z.string() }),
    query: z.object({ token: z.string().optional().meta({ description: 'The token of the payment' }) }),
    answers: { 200: fileBytes },
    errors: {
      404: 'There is no such payment, its token is another one, or it bought no file.',
      409: 'The payment is not confirmed yet.',
      410: 'The seller has removed the file.',
    },
    async handle({ params: { chk, pay }, query, header }) {
      const token = header('x-payment-token') ?? query.token ?? null
      const { file, chunks, headers } = await checkouts.file(chk, pay, token)
      return { ...reply(200, null), file: { type: file.mediaType, bytes: file.bytes, chunks, headers } }
    },
  })
}

interface Purchase {
  chosen: Chosen
  operation: Parameters<Checkouts['pay']>[2]
  dialogue: Dialogue
}

/** Pays, or fetches what was paid for, by a request's headers. */
async function buy(checkouts: Checkouts, chk: string, { chosen, operation, dialogue }: Purchase): Promise<Reply> {
  const { dialects, header } = dialogue
  const { token, payment: paymentId } = proofIn(header)
  try {
    const presented = presentedIn(header)
    const named = (field: string): string => field
    const pass = header('x-pass')
    const claim = pass === undefined || presented !== null ? {} : { claim: { pass } }
    const purchase = { ...chosen, presented, ...claim, token, paymentId, named, quoteId: null, waits: {} }
    const view = await checkouts.pay(chk, purchase, operation)
    return await sold(answered(view), { dialects, presented, resource: checkouts.addressOf(chk) })
  } catch (error) {
    return await requireAgain(error, dialogue, () => checkouts.offer(chk, chosen))
  }
}

/** The choice among the parameters of the address. */
function choiceIn({ quantity, amount, coupon, plan }: Choice): Choice {
  return { quantity, amount, coupon, plan }
}

function presentsPurchase(header: Headers): boolean {
  return presentsPayment(header) || header('x-payment-id') !== undefined || header('x-pass') !== undefined
}

/** Where the receipt is mailed to. */
function receiptOf({ email, language = 'en' }: z.output<typeof payBody>): { receipt?: ReceiptTo } {
  return email === undefined ? {} : { receipt: { email, language } }
}

/** The right that takes the place of a payment. */
function claimOf({ pass, proof }: z.output<typeof payBody>): { claim?: Claim } {
  if (pass !== undefined) return { claim: { pass } }
  if (proof === undefined) return {}
  const { address, expires, signature } = proof
  return { claim: { proof: { address, signature, expiresAt: new Date(expires) } } }
}

/** 202 while settlement is pending, which must never be taken for a failure. */
function answered(view: PaymentView): Reply {
  const { status, id, token } = view.payment
  const proof = token === null ? {} : { 'X-Payment-ID': id, 'X-Payment-Token': token }
  const headers = { ...FRESH, ...proof }
  return { ...reply(status === 'created' || status === 'settling' ? 202 : 200, shown(view)), headers }
}

async function* toEvents(views: AsyncIterable<PaymentView>): AsyncIterable<ServerEvent> {
  for await (const view of views) yield { event: 'state', data: view }
}

import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { invalid } from '../../kit/errors.ts'
import { TOKEN_FAULT } from '../../sales/errors.ts'
import { TOKEN } from '../../sales/service/proof.ts'
import type { CheckoutPages } from '../ports.ts'
import type { Checkouts } from '../service/checkouts.ts'
import { qrOf } from '../service/presenter.ts'
import { commonOf, FRESH, GONE } from './answers.ts'
import { draftBody, PAYER_BYTES_MAX } from './bodies.ts'

/** What stands in the page's form, on its way to another device. */
export function draftRoutes(checkouts: Checkouts, pages: CheckoutPages): AnyRoute[] {
  const common = commonOf(pages)
  return [
    route({
      ...common,
      method: 'post',
      path: '/:chk/drafts',
      summary: "Store what stands in the payment page's form for an hour, to pay on another device",
      limit: 'pay',
      bodyBytesMax: PAYER_BYTES_MAX,
      params: z.object({ chk: z.string() }),
      body: draftBody,
      answers: {
        201: z.object({
          url: z.string().meta({ description: 'Opens the page with it' }),
          qr: z.string().meta({ description: 'The same as a QR code, in SVG' }),
          expiresAt: z.string(),
        }),
      },
      errors: { 404: GONE[404], 429: 'Too many of this checkout wait for another device.' },
      async handle({ params, body }) {
        const stored = await checkouts.putDraft(params.chk, body)
        return { ...reply(201, { ...stored, qr: qrOf(stored.url) }), headers: FRESH }
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/:chk/draft',
      summary: 'What stood in the form on another device, with its token in X-Draft',
      limit: 'pay',
      params: z.object({ chk: z.string() }),
      answers: { 200: z.object({ content: z.string() }) },
      errors: { 404: 'It has expired, or the token is another one.' },
      async handle({ params, header }) {
        const token = header('x-draft') ?? ''
        if (!TOKEN.test(token)) throw invalid({ 'x-draft': TOKEN_FAULT })
        return { ...reply(200, { content: await checkouts.draft(params.chk, token) }), headers: FRESH }
      },
    }),
  ]
}

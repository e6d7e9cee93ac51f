import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { isId } from '../../kit/ids.ts'
import { timestamp } from '../../kit/wire.ts'
import type { Assets } from '../service/assets/assets.ts'
import { replyBody } from './asset-bodies.ts'
import { toReview } from './asset-shapes.ts'

const identifier = z.string().meta({ description: 'The slug or id of the RDA' })

/** What customers who paid said of an asset; a review is written with its rating (`/rate`). */
export function reviewRoutes(assets: Assets): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/rda/:identifier/reviews',
      summary: 'List the reviews of an RDA, newest first',
      tag: 'Marketplace',
      auth: 'optional',
      params: z.object({ identifier }),
      query: z.object({
        limit: z.coerce.number().int().min(1).max(100).default(20),
        before: z
          .string()
          .max(100)
          .refine((text) => isId('op', text), 'must be the `next` of an earlier page')
          .optional()
          .meta({ description: 'The `next` of the page before' }),
      }),
      answers: { 200: z.object({ reviews: z.array(reviewOut), next: z.string().nullable() }) },
      errors: { 404: 'There is no such RDA, or you may not see it.' },
      async handle({ caller, params, query: { limit, before = null } }) {
        const { reviews, next } = await assets.reviews(params.identifier, caller, { limit, before })
        return reply(200, { reviews: reviews.map(toReview), next })
      },
    }),
    route({
      method: 'post',
      path: '/rda/:identifier/reviews/:review/reply',
      summary: 'Answer a review of your own RDA, once and for everyone to read',
      tag: 'Marketplace',
      auth: 'person',
      idempotent: true,
      params: z.object({ identifier, review: z.string().max(100).meta({ description: 'The id of the review' }) }),
      body: replyBody.omit({ review: true }),
      answers: { 200: z.object({ replied: z.literal(true) }) },
      errors: {
        404: 'The RDA is not yours, or it has no such review.',
        409: 'You have already answered it.',
      },
      async handle({ caller, params: { identifier: of, review }, body }) {
        await assets.reply(caller, of, { review, text: body.text })
        return reply(200, { replied: true })
      },
    }),
  ]
}

const reviewOut = z.object({
  id: z.string(),
  score: z.int().meta({ description: 'From 1 to 5' }),
  text: z.string(),
  createdAt: timestamp,
  reply: z.string().nullable().meta({ description: "The creator's answer" }),
  repliedAt: timestamp.nullable(),
})

import { z } from 'zod'
import { fileBytes, reply, route, type AnyRoute } from '../../api/route.ts'
import { timestamp } from '../../kit/wire.ts'
import type { CheckoutPages } from '../ports.ts'
import type { Checkouts } from '../service/checkouts.ts'
import { commonOf, FRESH, GONE } from './answers.ts'

/** Files for fields of the type `file`: their links are the fields' values. */
export function uploadRoutes(checkouts: Checkouts, pages: CheckoutPages): AnyRoute[] {
  const common = commonOf(pages)
  return [
    route({
      ...common,
      method: 'post',
      path: '/:chk/files',
      summary:
        'Upload a file for a field of the type `file`: its bytes are the body, and the link is the field’s value',
      limit: 'pay',
      uploadBytesMax: checkouts.uploadBytesMax,
      params: z.object({ chk: z.string() }),
      query: z.object({
        name: z
          .string()
          .max(1_000)
          .default('file')
          .meta({ description: 'Its name; what is no part of a plain file name is left out' }),
      }),
      answers: {
        201: z.object({
          file: z.object({
            url: z.string().meta({ description: 'The value of the field. Everyone who has it can download the file' }),
            name: z.string(),
            bytes: z.int(),
            expiresAt: timestamp.meta({
              description:
                'It is removed then, unless a payment names it before: seven days after that, or 26 hours where it is simulated',
            }),
          }),
        }),
      },
      errors: {
        400: 'The body is empty, its length is not known, or the checkout has no field of the type `file`.',
        ...GONE,
        413: 'The file is too large. Nothing of it was read.',
        429: 'Too many files wait at this checkout, or its seller has no room for more.',
      },
      async handle({ params, query, upload }) {
        const { expiresAt, ...file } = await checkouts.upload(params.chk, query.name, upload())
        return { ...reply(201, { file: { ...file, expiresAt: expiresAt.toISOString() } }), headers: FRESH }
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/:chk/files/:file',
      summary: 'Download what a customer uploaded, by its link',
      params: z.object({ chk: z.string(), file: z.string() }),
      query: z.object({
        token: z.string().max(100).default('').meta({ description: 'From the link' }),
        name: z.string().max(2_000).optional().meta({ description: 'From the link; not read' }),
      }),
      answers: { 200: fileBytes },
      errors: { 404: 'There is no such file, its token is another one, or it is stored no longer.' },
      async handle({ params: { chk, file: id }, query }) {
        const { file, chunks, headers } = await checkouts.uploaded(chk, id, query.token)
        return { ...reply(200, null), file: { type: file.mediaType, bytes: file.bytes, chunks, headers } }
      },
    }),
  ]
}

import { z } from 'zod'
import { fileBytes, reply, route, type AnyRoute, type Outgoing } from '../api/route.ts'
import { plainLine } from '../kit/fields.ts'
import { page, timestamp } from '../kit/wire.ts'
import { PURPOSES, UPLOADED, type Content, type StoredFile } from './model.ts'
import type { Files } from './service.ts'

const common = { tag: 'Files', auth: 'person' } as const
const one = { params: z.object({ id: z.string() }), errors: { 404: 'You have no such file.' } }

/** What a sender says about a file beside its bytes. */
export const newFile = z.object({
  name: plainLine(200)
    .refine((name) => !/[/\\]/.test(name) && !/^\.+$/.test(name), 'must be a file name without a folder')
    .meta({ description: 'The name under which buyers save it', examples: ['guide.pdf'] }),
  purpose: z.enum(UPLOADED).default('sale').meta({
    description:
      '`sale`: only buyers get it. `picture`: a PNG, JPEG or WebP of at most 2 MB for pages, which everyone with its address can see',
  }),
})

export const fileOut = z
  .object({
    id: z.string(),
    name: z.string(),
    purpose: z.enum(PURPOSES).meta({
      description:
        '`sale` and `picture`: as uploaded. `answer`: what a tool answered, where that was too large to be sent. `input`: what a customer uploaded into a form, which is in no list',
    }),
    mediaType: z.string(),
    bytes: z.int(),
    sha256: z.string(),
    width: z.int().nullable().meta({ description: 'In pixels; null where it is no picture' }),
    height: z.int().nullable(),
    url: z.string().nullable().meta({ description: 'The address of a picture; null for a file that is sold' }),
    keptUntil: timestamp.nullable().meta({ description: 'It is removed then; null where it stays' }),
    createdAt: timestamp,
  })
  .meta({ id: 'File' })

export function toFileOut(file: StoredFile, addressOf: Files['addressOf']): z.input<typeof fileOut> {
  const { id, name, purpose, mediaType, bytes, sha256, width, height, keptUntil, createdAt } = file
  const url = purpose === 'picture' ? addressOf(id) : null
  const times = { keptUntil: keptUntil?.toISOString() ?? null, createdAt: createdAt.toISOString() }
  return { id, name, purpose, mediaType, bytes, sha256, width, height, url, ...times }
}

/** `/files`, for sellers. */
export function fileRoutes(files: Files): AnyRoute[] {
  const toOut = (file: StoredFile) => toFileOut(file, files.addressOf)
  return [
    route({
      ...common,
      method: 'post',
      path: '/files',
      summary: 'Upload a file: its bytes are the body; the same file again is the same file',
      uploadBytesMax: files.limits.bytesMax,
      query: newFile,
      answers: { 201: z.object({ file: fileOut }) },
      errors: {
        413: 'The file is too large. Nothing of it was read.',
        415: 'The picture is no PNG, JPEG or WebP, or has too many pixels.',
        429: 'The account has no room for it.',
      },
      handle: async ({ caller, query, upload, operation }) =>
        reply(201, { file: toOut(await files.upload(caller, query, upload(), operation)) }),
    }),
    route({
      ...common,
      method: 'get',
      path: '/files',
      summary: 'Your files in this environment, newest first, and how much room they take',
      query: page,
      answers: {
        200: z.object({
          files: z.array(fileOut),
          total: z.int(),
          limit: z.int(),
          offset: z.int(),
          bytes: z.int().meta({ description: 'Of all files together' }),
          bytesMax: z.int(),
        }),
      },
      async handle({ caller, query }) {
        const { files: found, total, bytes } = await files.list(caller, query)
        const { accountBytesMax: bytesMax } = files.limits
        return reply(200, { files: found.map(toOut), total, ...query, bytes, bytesMax })
      },
    }),
    route({
      ...common,
      ...one,
      method: 'get',
      path: '/files/:id',
      summary: 'One file',
      answers: { 200: z.object({ file: fileOut }) },
      handle: async ({ caller, params }) => reply(200, { file: toOut(await files.get(caller, params.id)) }),
    }),
    route({
      ...common,
      ...one,
      method: 'delete',
      path: '/files/:id',
      summary: 'Delete a file that nothing uses any more',
      query: z.object({
        soldToo: z
          .enum(['true', 'false'])
          .default('false')
          .transform((text) => text === 'true')
          .meta({ description: 'Also where buyers can still download it' }),
      }),
      answers: { 204: z.undefined() },
      errors: { ...one.errors, 409: 'It is still used, by `usedBy`, or buyers can still download it (`sold`).' },
      async handle({ caller, params, query }) {
        await files.delete(caller, params.id, query)
        return reply(204, undefined)
      },
    }),
  ]
}

/** `/p/pictures`, for everyone. */
export function pictureRoutes(files: Files): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/pictures/:id',
      summary: 'A picture of a product or a seller',
      tag: 'Hosted checkout',
      auth: 'anyone',
      params: z.object({ id: z.string() }),
      answers: { 200: fileBytes },
      errors: { 404: 'There is no such picture.' },
      handle: async ({ params }) => ({ ...reply(200, null), file: toOutgoing(await files.picture(params.id)) }),
    }),
  ]
}

/** `/tools/answers`, for whoever has the link. */
export function answerRoutes(files: Files): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/answers/:id',
      summary: 'An answer that was too large to be sent, by the link in the call’s `output`',
      tag: 'Tools',
      auth: 'anyone',
      params: z.object({ id: z.string() }),
      query: z.object({ token: z.string().max(100) }),
      answers: { 200: fileBytes },
      errors: { 404: 'There is no such answer, or it is kept no longer.' },
      handle: async ({ params, query }) => ({
        ...reply(200, null),
        file: toOutgoing(await files.answer(params.id, query.token)),
      }),
    }),
  ]
}

export function toOutgoing({ file, chunks, headers }: Content): Outgoing {
  return { type: file.mediaType, bytes: file.bytes, chunks, headers }
}

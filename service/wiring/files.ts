import type { Request } from 'express'
import { decode } from '../kit/decode.ts'
import { serveUploads } from '../api/transfers.ts'
import type { Caller } from '../kit/caller.ts'
import { newId } from '../kit/ids.ts'
import { createSigner } from '../kit/hash.ts'
import type { Part, Platform } from './platform.ts'
import { answerRoutes, fileRoutes, newFile, pictureRoutes, toFileOut, toOutgoing } from '../files/http.ts'
import type { NewFile } from '../files/service.ts'
import type { Living } from '../files/ports.ts'
import { uploadLinks } from '../files/customer-uploads.ts'
import { createFiles, type Files } from '../files/service.ts'
import { createFileStore } from '../files/store.ts'

/** Files that sellers upload, and their customers. `living`: which checkouts still show anything. */
export function openFiles(platform: Platform, living: Living): { files: Files; part: Part } {
  const { config, database, clock, secret } = platform
  const signer = createSigner(secret, 'coinslot answers')
  const limits = {
    bytesMax: config.FILE_BYTES_MAX,
    accountBytesMax: config.QUOTA_FILE_BYTES,
    filesMax: config.QUOTA_FILES,
    customers: { bytesMax: config.QUOTA_CUSTOMER_FILE_BYTES, filesMax: config.QUOTA_CUSTOMER_FILES },
  }
  const files = createFiles({
    store: createFileStore(database.statements, limits),
    clock,
    limits,
    living,
    addressOf: (picture) => `${config.addresses.pay}/pictures/${picture}`,
    links: {
      of: (id) => `${config.addresses.tools}/answers/${id}?token=${signer.sign(id)}`,
      isFor: (id, token) => signer.isSigned(id, token),
    },
    uploadLinks: uploadLinks(config.addresses.pay, createSigner(secret, 'coinslot customer uploads')),
  })
  return {
    files,
    part: {
      routes: [
        { surface: 'api', routes: fileRoutes(files) },
        { surface: 'pay', routes: pictureRoutes(files) },
        { surface: 'tools', routes: answerRoutes(files) },
      ],
      sweepers: [
        {
          name: 'files.unfinished',
          everyMs: 30_000,
          run: async (now) => {
            await files.sweep(now)
          },
        },
      ],
    },
  }
}

/** Uploads by the dashboard, under the path of its other requests. */
export function openUploads({ clock }: Platform, files: Files, identify: (request: Request) => Promise<Caller>): Part {
  const handler = serveUploads('/trpc/files', {
    bytesMax: files.limits.bytesMax,
    identify,
    find: async (id) => toOutgoing(await files.picture(id)),
    async receive(caller, query, upload) {
      // Decoded by the schema, so the type holds.
      const wanted = decode(newFile, query, 'query') as NewFile
      const file = await files.upload(caller, wanted, upload, newId('op', clock.now()))
      return { status: 201, body: toFileOut(file, files.addressOf) }
    },
  })
  return { mounted: [{ role: 'dashboard', path: '/trpc/files', handler }] }
}

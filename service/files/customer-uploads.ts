import type { Clock } from '../kit/clock.ts'
import { isId, newId, type Id } from '../kit/ids.ts'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import { uploadMissing } from './errors.ts'
import type { Content, CustomerUpload, FileLimits, Upload } from './model.ts'
import type { FileStore } from './ports.ts'
import { chunksOf, isOver, receive } from './receive.ts'
import { assertSize, cleanName, customerBytesMax, downloadHeaders } from './rules.ts'

/** What customers upload into the form of a checkout. Its link is the value of the field, and opens it without a key. */
export function createCustomerUploads({ store, clock, limits, links }: CustomerUploadDeps) {
  /** The upload of this checkout that a value names. Null for any other link, `refused` for one that cannot be used. */
  function read(checkoutId: string, value: string): Id<'file'> | 'refused' | null {
    const named = links.read(value)
    if (named === null) return null
    return named.isSigned && named.checkoutId === checkoutId && isId('file', named.id) ? named.id : 'refused'
  }

  /** The fields whose values name no upload that this checkout has. */
  function refusedAmong(checkoutId: string, values: Values, there: ReadonlySet<string>): string[] {
    return values.flatMap(([field, value]) => {
      const id = read(checkoutId, value)
      return id === null || there.has(id) ? [] : [field]
    })
  }

  function idsIn(checkoutId: string, values: Values): string[] {
    const found = values.map(([, value]) => read(checkoutId, value))
    return [...new Set(found.flatMap((id) => (id === null || id === 'refused' ? [] : [id])))]
  }

  return {
    bytesMax: customerBytesMax(limits),

    async put(checkout: { id: string; owner: Owner }, name: string, upload: Upload): Promise<CustomerUpload> {
      assertSize(upload, 'input', limits)
      const createdAt = clock.now()
      const id = newId('file', createdAt)
      const about = { id, owner: checkout.owner, purpose: 'input', checkoutId: checkout.id } as const
      const described = { ...about, name: cleanName(name), bytes: upload.bytes, createdAt }
      const expiresAt = new Date(createdAt.getTime() + WAITING_MS)
      const file = await receive(store, described, upload, expiresAt)
      return { url: links.of(checkout.id, file), name: file.name, bytes: file.bytes, expiresAt }
    },

    async content(checkoutId: string, id: string, token: string): Promise<Content> {
      const file = isId('file', id) && links.isFor(checkoutId, id, token) ? await store.find(id) : null
      if (file?.checkoutId !== checkoutId || isOver(file, clock.now())) throw uploadMissing()
      return { file, chunks: chunksOf(store, file), headers: downloadHeaders(file) }
    },

    /** The fields whose values name an upload that cannot be bought with. Any other address is none of its business. */
    async refused(checkoutId: string, values: Values): Promise<string[]> {
      const now = clock.now()
      const files = await Promise.all(idsIn(checkoutId, values).map((id) => store.find(id)))
      const there = files.flatMap((file) => (file?.checkoutId === checkoutId && !isOver(file, now) ? [file.id] : []))
      return refusedAmong(checkoutId, values, new Set(there))
    },

    /** The same, and from now on those that can stay that long: an order names them. */
    async keep(inside: Statements, { checkoutId, saleId, until }: Keeping, values: Values): Promise<string[]> {
      const ids = idsIn(checkoutId, values)
      const uploads = { checkoutId, ids, saleId, until, now: clock.now() }
      const there = ids.length === 0 ? [] : await store.keep(inside, uploads)
      return refusedAmong(checkoutId, values, new Set(there))
    },

    /** Of a sale that has failed: its buyer may try again. */
    free: (inside: Statements, saleId: string): Promise<void> =>
      store.free(inside, saleId, new Date(clock.now().getTime() + WAITING_MS)),

    inTransaction: <T>(work: (inside: Statements) => Promise<T>): Promise<T> => store.inTransaction(work),
  }
}

/** The links that fields have as their values, by the fields' names. */
type Values = readonly (readonly [field: string, value: string])[]

interface Keeping {
  checkoutId: string
  /** Null where they go on counting as waiting: the money is not there, or is none. */
  saleId: string | null
  until: Date
}

/** Long enough to fill in the rest of a form and to pay. */
const WAITING_MS = 3_600_000

/** Every process can make a file's link, and read one, so none is stored. */
export interface UploadLinks {
  of(checkoutId: string, file: { id: string; name: string }): string
  isFor(checkoutId: string, id: string, token: string): boolean
  /** Null for an address that is none of these. */
  read(link: string): { checkoutId: string; id: string; isSigned: boolean } | null
}

/** `pay`: the address of the hosted pages. */
export function uploadLinks(pay: string, signer: Signer): UploadLinks {
  const base = new URL(pay)
  const isFor: UploadLinks['isFor'] = (checkoutId, id, token) => signer.isSigned([checkoutId, id], token)
  return {
    // The name stands at the end, where programs look for the kind of a file.
    of: (checkoutId, { id, name }) =>
      `${pay}/${checkoutId}/files/${id}?token=${signer.sign([checkoutId, id])}&name=${encodeURIComponent(name)}`,
    isFor,
    read(link) {
      if (!URL.canParse(link)) return null
      const { origin, pathname, searchParams } = new URL(link)
      const [, checkoutId, id] = UPLOAD_PATH.exec(pathname.slice(base.pathname.length)) ?? []
      if (origin !== base.origin || !pathname.startsWith(base.pathname)) return null
      if (checkoutId === undefined || id === undefined) return null
      return { checkoutId, id, isSigned: isFor(checkoutId, id, searchParams.get('token') ?? '') }
    },
  }
}

const UPLOAD_PATH = /^\/(chk_[^/]*)\/files\/([^/]+)\/?$/

interface Signer {
  sign(value: unknown): string
  isSigned(value: unknown, signature: string): boolean
}

interface CustomerUploadDeps {
  store: FileStore
  clock: Clock
  limits: FileLimits
  links: UploadLinks
}

import { invalid } from '../../kit/errors.ts'
import type { Field } from '../../kit/fields.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Content, CustomerUpload, Upload } from '../../files/model.ts'
import type { Sale } from '../../sales/model.ts'
import { checkoutMissing } from '../errors.ts'
import type { Checkout, Payment } from '../model.ts'
import type { CustomerFilePort } from '../ports.ts'
import { assertSells } from '../rules/lifecycle.ts'
import type { CheckoutDeps } from './deps.ts'

/** Files that customers upload into a checkout's form. Any other link is a value of the same fields. */
export function createUploads({ store, files, clock }: Pick<CheckoutDeps, 'store' | 'files' | 'clock'>) {
  return {
    uploadBytesMax: files.customers.bytesMax,

    /** For everyone, while it sells. */
    async upload(id: string, name: string, upload: Upload): Promise<CustomerUpload> {
      const checkout = await store.find(id)
      if (checkout === null) throw checkoutMissing()
      assertSells(checkout, clock.now())
      if (!takesFiles(checkout)) throw invalid({ chk: 'has no field of the type file' })
      return await files.customers.put(checkout, name, upload)
    },

    /** For everyone who has the link, also when the checkout has ended: the workflow fetches it. */
    uploaded: (id: string, file: string, token: string): Promise<Content> => files.customers.content(id, file, token),
  }
}

export const takesFiles = ({ fields }: Pick<Checkout, 'fields'>): boolean => fields.some(({ type }) => type === 'file')

/** Before the claim: names the fields whose uploads are gone, or another checkout's. */
export async function assertUploaded(
  files: CustomerFilePort,
  { id, fields }: Checkout,
  input: Payment['input'],
  named: (field: string) => string,
): Promise<void> {
  refuse(await files.refused(id, linksIn(fields, input)), named)
}

/** Stores them until then: an order that waits for its money names them. */
export async function keepUploaded(
  files: CustomerFilePort,
  { id: checkoutId, fields }: Checkout,
  { input, until, named }: { input: Payment['input']; until: Date; named: (field: string) => string },
): Promise<void> {
  const links = linksIn(fields, input)
  if (links.length === 0) return
  const keeping = { checkoutId, saleId: null, until }
  refuse(await files.inTransaction((inside) => files.keep(inside, keeping, links)), named)
}

/**
 * In the transaction of the claim, before money moves: as long as its delivery can be tried or fetched. Everyone can
 * simulate payments without end, so what such a one names goes on counting as waiting, and stays for a day.
 */
export async function sellUploaded(
  inside: Statements,
  files: Pick<CustomerFilePort, 'keep'>,
  { checkout: { id: checkoutId, fields }, sale }: { checkout: Checkout; sale: SoldWith },
): Promise<void> {
  const { id, details, createdAt, simulated } = sale
  const links = linksIn(fields, details['input'])
  if (links.length === 0) return
  const until = new Date(createdAt.getTime() + (simulated ? SIMULATED_MS : SOLD_MS))
  refuse(
    await files.keep(inside, { checkoutId, saleId: simulated ? null : id, until }, links),
    (name) => `input.${name}`,
  )
}

type SoldWith = Pick<Sale, 'id' | 'details' | 'createdAt' | 'simulated'>

/** As far back as a workflow can fetch deliveries. The attempts end before. */
const SOLD_MS = 7 * 24 * 3_600_000
const SIMULATED_MS = 26 * 3_600_000

function linksIn(fields: readonly Field[], input: unknown): [string, string][] {
  const values = new Map(Object.entries((input ?? {}) as Record<string, unknown>))
  return fields.flatMap(({ type, name }): [string, string][] => {
    const value = type === 'file' ? values.get(name) : undefined
    return typeof value === 'string' ? [[name, value]] : []
  })
}

function refuse(fields: readonly string[], named: (field: string) => string): void {
  if (fields.length > 0) throw invalid(Object.fromEntries(fields.map((field) => [named(field), GONE])))
}

/** The payment page knows this text. */
const GONE = 'must be a file of this checkout that is still stored'

import type { Log } from '../kit/log.ts'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Paper } from '../pdf/model.ts'
import type { Announcement } from '../queue/model.ts'
import type { NamedSale, Sale } from '../sales/model.ts'
import type { Invoice, Invoicing } from './model.ts'

/** Where settings and invoices are stored. */
export interface InvoiceStore {
  together<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  settings(owner: Owner, inside?: Statements): Promise<Invoicing>
  saveSettings(inside: Statements, owner: Owner, invoicing: Invoicing, now: Date): Promise<void>
  /** The settings' changes of one account wait for each other until the transaction ends. */
  lockSettings(inside: Statements, owner: Owner): Promise<void>
  ofSale(saleId: string, inside?: Statements): Promise<Invoice | null>
  /** The number after the last. Others of the account wait for it until the transaction ends, so none is left out. */
  nextNumber(inside: Statements, owner: Owner, year: number): Promise<number>
  add(inside: Statements, invoice: Invoice): Promise<void>
  list(owner: Owner, page: Page): Promise<{ invoices: readonly Invoice[]; total: number }>
}

export interface Page {
  limit: number
  offset: number
}

export interface InvoicedSales {
  /** By id, with their sellers' names for what was sold. */
  findOwn(owner: Owner, id: string): Promise<NamedSale | null>
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Sale>>
  lock(inside: Statements, id: string): Promise<Sale | null>
}

export interface Printing {
  /** For the account that shares the work with others. */
  render(paper: Paper, owner: Owner): Promise<Buffer>
}

/** Sends mails to addresses that customers entered. */
export interface CustomerMailer {
  /** Counts one more mail to this address. False where it had too many in the last hour. */
  mayMail(to: string): Promise<boolean>
  /** Whether the buyer of a simulated payment may have mail at this address. */
  reachesTestBuyer(userId: string, to: string): Promise<boolean>
  /** Safe to repeat: the id names the mail. */
  send(mail: CustomerMail): Promise<void>
}

interface CustomerMail {
  id: string
  to: string
  subject: string
  text: string
  files: readonly { name: string; type: string; bytes: Buffer }[]
}

export interface MailDeps {
  sales: Pick<InvoicedSales, 'findOwn' | 'findAll'>
  store: Pick<InvoiceStore, 'together' | 'settings' | 'ofSale'>
  mailer: CustomerMailer
  /** How the account is called on its pages. Null where it has no name. */
  brandName(owner: Owner): Promise<string | null>
  /** The receipt's page, with its token. */
  addressOf(sale: string): string
  announce(inside: Statements, announcements: readonly Announcement[]): Promise<void>
  /** Each counts one more mail of the last hour. False where that is too many. */
  limits: { account(userId: string): Promise<boolean>; sale(id: string): Promise<boolean> }
  log: Log
}

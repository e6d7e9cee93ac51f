import type { Usdc } from '../kit/money.ts'
import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { AnsweredDelivery, NewDelivery, NewEvent, NewTarget } from '../deliveries/model.ts'
import type { BrandView } from '../brands/model.ts'
import type { Content, CustomerUpload, Purpose, StoredFile, Upload } from '../files/model.ts'
import type { Id } from '../kit/ids.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Caller } from '../kit/caller.ts'
import type { Reader } from '../kit/language.ts'
import type { Owner } from '../kit/owner.ts'
import type { AccountBuyer, AccountPayment, ProductName, Sale } from '../sales/model.ts'
import type { Announcement } from '../queue/model.ts'
import type { JsonSigned, ReceiptPayload, TypedSigned } from '../x402/offer-receipt.ts'
import type { ReceiptRefund } from './model.ts'
import type { CheckoutView, PaymentView } from './views.ts'

/** The part of the deliveries' API that checkouts use. */
export interface DeliveryPort {
  write(inside: Statements, delivery: NewDelivery): Promise<void>
  /** No further attempt is made. An attempt under way, and one that a receiver has claimed, goes on. */
  stop(inside: Statements, id: string, error: string): Promise<void>
  event(inside: Statements, event: NewEvent): Promise<void>
  bySubject(owner: Owner | null, subjects: readonly string[]): Promise<ReadonlyMap<string, AnsweredDelivery>>
  targets: {
    put(inside: Statements, target: NewTarget): Promise<{ secret: string }>
    rotate(target: { id: string; owner: Owner }, operation: Id<'op'>): Promise<{ secret: string }>
    /** The current one. */
    secrets(id: string, owner: Owner): Promise<{ secret: string }>
  }
}

/** How the seller shows itself to buyers; null where nothing was set. */
export interface BrandPort {
  shown(owner: Owner): Promise<BrandView | null>
}

/** The part of the files' API that checkouts use. */
export interface FilePort {
  /** The owner's file; throws with the field's name. */
  named(owner: Owner, id: string, as: { purpose: Purpose; field: string }): Promise<StoredFile>
  /** From now on the checkout uses exactly these files. */
  use(inside: Statements, owner: Owner, subject: string, files: readonly string[]): Promise<void>
  /** False where it was deleted meanwhile. */
  sold(inside: Statements, id: string, subject: string): Promise<boolean>
  content(id: string): Promise<Content>
  addressOf(picture: string): string
  customers: CustomerFilePort
}

/** What customers upload into forms. */
export interface CustomerFilePort {
  bytesMax: number
  put(checkout: { id: string; owner: Owner }, name: string, upload: Upload): Promise<CustomerUpload>
  content(checkoutId: string, id: string, token: string): Promise<Content>
  /** The fields whose values name an upload that cannot be bought with; every other address is fine. */
  refused(checkoutId: string, values: readonly (readonly [field: string, value: string])[]): Promise<string[]>
  /** The same, and the others stay until then. Without a sale they count as waiting. */
  keep(
    inside: Statements,
    order: { checkoutId: string; saleId: string | null; until: Date },
    values: readonly (readonly [field: string, value: string])[],
  ): Promise<string[]>
  /** Of a sale that has failed: they count as waiting again, where no other one names them. */
  free(inside: Statements, saleId: string): Promise<void>
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
}

/** Sends what is left of a payment back to its payer, once for each operation. */
export interface RefundPort {
  request(
    refund: {
      saleId: string
      amount: null
      reason: string
      by: 'rule'
      owner: null
      assert?(inside: Statements): Promise<void>
    },
    operation: Id<'op'>,
  ): Promise<unknown>
  /** Of each of these sales, as its buyer sees them, oldest first. */
  shown(sales: readonly Pick<Sale, 'id' | 'network'>[]): Promise<ReadonlyMap<string, readonly ReceiptRefund[]>>
}

/** What becomes of problems with payments. */
export interface DisputePort {
  /** How the last sales of a checkout went. Null while there are too few. */
  trackRecord(checkout: string): Promise<CheckoutView['trackRecord']>
}

/** Calls workflows. Users supply their addresses, so the caller must pass a guarded client. */
export interface Callbacks {
  /** Throws a DomainError that explains why the address is not allowed. */
  check(url: string): Promise<void>
  /** A POST without a body that names the checkout, since an address may belong to another one by now; null without an answer. */
  ask(url: string, checkoutId: string): Promise<{ status: number; body: Buffer } | null>
}

/** The address that receives payments for an owner's wallet; null until the wallet has one. */
export type WalletAddress = (owner: Owner) => Promise<Address | null>

export interface SellersRecipients {
  /** Where a seller is paid: their own wallet's address where they name none. Throws for an address where nobody could spend it. */
  ofSales(owner: Owner, named: { recipient: Address | null; network: NetworkName }): Promise<Address | null>
}

/** Sends a mail to the account's own address, if it has one. Safe to repeat: the id identifies the mail. */
export type MailOwner = (userId: string, mail: { id: string; subject: string; text: string }) => Promise<void>

/** Pays from the caller's account. */
export interface AccountPayments {
  here: {
    /** The account as a buyer for `maxAmount`, within the limits of its agent. Null where the recipient is no account here. */
    buyer(
      caller: Caller,
      purchase: { request: PaidCall; network: NetworkName; recipient: Address },
      operation: Id<'op'>,
    ): Promise<AccountBuyer | null>
  }
  /** Pays an address, which is called twice. */
  pay(
    caller: Caller,
    request: PaidCall,
    operation: Id<'op'>,
    options: { keyed: boolean; background: boolean },
  ): Promise<{
    payment: AccountPayment | null
    response: { status: number; body: string; encoding: 'utf8' | 'base64' } | null
  }>
}

/** A request that costs money, and the most that it may cost. */
interface PaidCall {
  url: string
  method: string
  headers: Readonly<Record<string, string>>
  body: string
  maxAmount: Usdc
}

/** Runs in the transaction of the change that it announces. */
export type Announce = (inside: Statements, announcements: readonly Announcement[]) => Promise<void>

/** The receipts of all products; null without the payment's token. */
export type Receipts = (id: string, token: string | null) => Promise<FoundReceipt | null>

export interface FoundReceipt {
  body: {
    receipt: Receipt
    delivery: PaymentView['delivery']
    result: PaymentView['result']
    dispute: ReceiptDispute | null
    signed: SignedForms | null
  }
  /** For its page, if it was bought at a checkout. */
  checkout: { view: CheckoutView; payment: PaymentView } | null
  /** Of its seller, for the page of any other purchase. */
  brand: BrandView | null
}

/** The signed receipt in both forms, and the terms that were paid. */
export interface SignedForms {
  eip712: TypedSigned<ReceiptPayload>
  jws: JsonSigned
  /** Null when the sale has no recipient. */
  terms: JsonSigned | null
  /** The page that verifies it. */
  verifyUrl: string
}

export interface Receipt {
  id: string
  product: ProductName
  /** The seller's name for the product. */
  name: string
  status: string
  amount: number
  currency: 'USDC'
  network: string
  payer: string
  txHash: string | null
  testMode: boolean
  createdAt: string
  paidAt: string | null
  /** What went back of it, is about to, or did not, oldest first. */
  refunds: readonly ReceiptRefund[]
}

/** The buyer's report of a problem with the payment. */
export interface ReceiptDispute {
  id: string
  state: string
  reason: string
  answer: string | null
  answerBy: string
  createdAt: string
}

/** The pages for a browser. */
export interface CheckoutPages {
  checkout(view: CheckoutView, reader: Reader, embed?: Embed | null): Shown
  /** The address of one payment, opened in a browser. */
  payment(view: CheckoutView | null, payment: PaymentView, reader: Reader, embed?: Embed | null): Shown
  /** The receipt of a purchase that was not made at a checkout. */
  receipt(
    receipt: Receipt & { dispute: ReceiptDispute | null; brand: BrandView | null },
    signed: SignedForms | null,
    reader: Reader,
  ): Shown
  /** Verifies a signed receipt in the reader's browser, by the keys at these addresses. `home`: the page's own origin. */
  verify(issuers: Readonly<Record<string, string>>, home: string, reader: Reader): Shown
  /** `checkout`: in a frame, the one that has ended. */
  missing(
    error: { status: number; code: string; sentence: string; checkout?: string },
    reader: Reader,
    embed?: Embed | null,
  ): Shown
}

/** A site that shows the page in a frame. `tab`: the page is open beside the frame, where more wallets work. */
export interface Embed {
  origin: string
  tab: boolean
}

interface Shown {
  type: string
  content: string | Buffer
  headers?: Readonly<Record<string, string>>
}

/** Mails the receipt of a sale to its buyer, where an address was entered. */
export interface ReceiptPort {
  paid(inside: Statements, sale: Sale): Promise<void>
}

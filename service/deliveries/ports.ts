import type { Id } from '../kit/ids.ts'
import type { SealedSecrets } from '../kit/sealed-secrets.ts'
import type { Statements } from '../kit/transaction.ts'
import type { SigningSecret } from '../identity/model.ts'
import type { Owner } from '../kit/owner.ts'
import type { OutboundRequest, StreamedResponse } from '../outbound/model.ts'
import type { Announcement } from '../queue/model.ts'
import type {
  AnsweredDelivery,
  Attempt,
  Attempted,
  DeliveryDetail,
  DeliveryState,
  DeliveryView,
  Endpoint,
  EventBound,
  EventName,
  OnUnconfirmed,
  Page,
} from './model.ts'
import type { Course } from './rules/schedule.ts'

/** Deliveries and their attempts. */
export interface DeliveryStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** The ids of the new deliveries. A delivery whose target belongs to another owner is not written. */
  add(inside: Statements, rows: readonly DeliveryRow[]): Promise<ReadonlySet<string>>
  has(inside: Statements, id: string): Promise<boolean>

  load(ids: readonly string[]): Promise<ReadonlyMap<string, Outgoing>>
  /** Records a 2xx, and ends the delivery if its turn is still the current one. */
  confirm(done: readonly Concluded[]): Promise<void>
  /** Locks the rows until the transaction ends. */
  lock(inside: Statements, ids: readonly string[]): Promise<ReadonlyMap<string, Locked>>
  /** Records attempts, and the state that each delivery moves to. */
  redirect(inside: Statements, changes: readonly Redirected[]): Promise<void>
  keep(inside: Statements, attempts: readonly Concluded[]): Promise<void>
  /** Postpones the attempt until then; a delivery whose turn is over is left out. */
  postpone(inside: Statements, waits: readonly Wait[]): Promise<readonly Live[]>
  /** Claimed deliveries that were not confirmed in time. */
  overdueClaims(now: Date, limit: number): Promise<readonly string[]>
  /** Pending deliveries whose announcement is long overdue; they become due again now. */
  overdueAttempts(inside: Statements, dueBefore: Date, now: Date, limit: number): Promise<readonly Live[]>

  /** True for the first claim, and again for the same operation; null when the owner has no such delivery. */
  claim(owner: Owner, id: string, act: string, now: Date): Promise<boolean | null>
  /** Due now with a schedule of its own, and to be claimed again; null when this act did it before, or there is none. */
  redeliver(inside: Statements, delivery: { owner: Owner; id: string }, act: string, dueAt: Date): Promise<Live | null>

  /** Ends it if no receiver has claimed it. */
  stop(inside: Statements, id: string, error: string): Promise<void>

  /** The oldest that its receiver has not confirmed. */
  unfetched(owner: Owner, target: string, limit: number): Promise<readonly Pick<Outgoing, 'id' | 'turn'>[]>
  /** A receiver that fetches its deliveries has handled these, with these statuses. */
  confirmFetched(owner: Owner, target: string, handled: readonly Handled[], now: Date): Promise<void>
  /** Those from this time on are to be fetched again. Returns how many. */
  replay(owner: Owner, target: string, again: { since: Date; dueAt: Date; limit: number }): Promise<number>

  find(owner: Owner, id: string): Promise<DeliveryDetail | null>
  /** Whether its target accepts deliveries. */
  isOpen(owner: Owner, id: string): Promise<boolean | null>
  list(
    owner: Owner,
    filter: DeliveryFilter,
    page: Page,
  ): Promise<{ deliveries: readonly DeliveryView[]; total: number }>
  /** The newest delivery of each subject. */
  bySubject(owner: Owner | null, subjects: readonly string[]): Promise<ReadonlyMap<string, AnsweredDelivery>>
}

/** Addresses and the secrets that sign for them. */
export interface TargetStore {
  put(inside: Statements, target: TargetRow): Promise<SealedSecrets>
  rotate(owner: Owner, id: string, made: { sealed: string; madeBy: string }, until: Date): Promise<void>
  secrets(owner: Owner, id: string): Promise<SealedSecrets | null>

  /** False when the limit is reached. */
  addEndpoint(row: EndpointRow, most: number): Promise<boolean>
  findEndpoint(owner: Owner, id: string): Promise<Endpoint | null>
  listEndpoints(owner: Owner, page: Page): Promise<{ endpoints: readonly Endpoint[]; total: number }>
  changeEndpoint(owner: Owner, id: string, change: EndpointChange, now: Date): Promise<Endpoint | null>
  /** False when there is no such endpoint. */
  removeEndpoint(owner: Owner, id: string): Promise<boolean>
  /** The enabled endpoints that subscribe to the event. */
  listening(inside: Statements, owner: Owner, event: EventName): Promise<readonly Pick<Endpoint, 'id' | 'url'>[]>
  /** False if this event was sent already, or if the last hour's limit is reached. */
  withinBound(inside: Statements, bound: EventBound, now: Date): Promise<boolean>
  /** The accounts among these that have an enabled endpoint for one of the events. */
  listeners(inside: Statements, owners: readonly Owner[], events: readonly EventName[]): Promise<readonly Owner[]>
  /** Stores when each started to fail; returns that for the enabled endpoints. */
  failing(inside: Statements, ids: readonly string[], now: Date): Promise<readonly Failing[]>
  /** Returns the endpoints that were enabled until now. */
  disable(inside: Statements, ids: readonly string[], now: Date): Promise<readonly Endpoint[]>
  /** Null where it was disabled before, or has confirmed a delivery since then. */
  disableUnfetched(inside: Statements, id: string, at: { since: Date; now: Date }): Promise<Endpoint | null>
}

export interface DeliveryRow {
  id: Id<'dlv'>
  owner: Owner
  subject: string
  targetId: string | null
  url: string | null
  body: string
  headers: Readonly<Record<string, string>>
  waitMs: number
  keepBytes: number
  onUnconfirmed: OnUnconfirmed
  /** The first attempt; of one that its receiver fetches, the end of its time. */
  dueAt: Date
  createdAt: Date
}

/** A delivery that its receiver fetched, and what the program behind it answered. */
export interface Handled {
  id: string
  /** Null confirms any turn: an older program does not know them. */
  turn: number | null
  status: number
}

/** The data for an attempt. */
export interface Outgoing {
  id: string
  owner: Owner
  subject: string
  turn: number
  state: DeliveryState
  attempts: number
  url: string
  target: { id: string; open: boolean; secrets: SealedSecrets } | null
  body: string
  headers: Readonly<Record<string, string>>
  waitMs: number
  keepBytes: number
}

/** A completed attempt. */
export interface Concluded extends Attempt {
  id: string
  turn: number
  target: string | null
}

export interface Locked {
  id: string
  owner: Owner
  subject: string
  target: string | null
  turn: number
  state: DeliveryState
  place: number
  onUnconfirmed: OnUnconfirmed
  waitMs: number
}

export interface Redirected extends Course {
  id: string
  attempt: Attempt | null
  /** For a delivery that ends without an attempt. */
  error: string | null
}

export interface Wait {
  id: string
  turn: number
  dueAt: Date
}

/** The turn to announce. */
export interface Live {
  id: string
  turn: number
  waitMs: number
  dueAt: Date
}

export interface DeliveryFilter {
  subject: string | null
  state: DeliveryState | null
  target: string | null
}

export interface TargetRow {
  id: string
  owner: Owner
  url: string
  sealed: string
  madeBy: string
  createdAt: Date
}

export interface EndpointRow extends TargetRow {
  id: Id<'whe'>
  events: readonly EventName[]
}

export interface EndpointChange {
  url: string | null
  events: readonly EventName[] | null
  status: 'enabled' | 'disabled' | null
}

export interface Failing {
  id: string
  since: Date
}

/** Sends a request to a user's address through the guarded client. */
export type Post = (request: OutboundRequest) => Promise<StreamedResponse>

/** Sample data of an event type. The code that builds real events builds it too. */
export type SampleOf = (event: EventName, now: Date) => Readonly<Record<string, unknown>>

export type CheckAddress = (url: string) => Promise<void>

/** Encrypts secrets at rest; the context identifies their owner. */
export interface Sealing {
  seal(secret: string, context: string): string
  open(sealed: string, context: string): string
}

export type SecretsOf = (owner: Owner) => Promise<SigningSecret>

/** Writes announcements in the transaction that they belong to. */
export type Announce = (inside: Statements, announcements: readonly Announcement[]) => Promise<void>

/** Called after every attempt at a target. It is only a hint, which may be lost with its process. */
export type Listener = (targetId: string, attempted: Attempted) => Promise<void>

/** Whether what the delivery reports still holds, so that it may be sent once more. It stays so until the transaction ends. */
export type MayRedeliver = (inside: Statements, subject: string) => Promise<boolean>

/** Sends a mail to the account's own address, if it has one. Safe to repeat: the id identifies the mail. */
export type MailOwner = (
  userId: string,
  mail: { id: string; subject: string; text: string },
  /** An account is sent a limited number of mails of a kind. */
  counted: { kind: string; attempt: number },
) => Promise<void>

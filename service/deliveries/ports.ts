import type { Id } from '../kit/ids.ts'
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
  /** The ids of those that were not there yet. One whose target is not its owner's is not written. */
  add(inside: Statements, rows: readonly DeliveryRow[]): Promise<ReadonlySet<string>>
  has(inside: Statements, id: string): Promise<boolean>

  load(ids: readonly string[]): Promise<ReadonlyMap<string, Outgoing>>
  /** A 2xx: ends the delivery if its turn is still this one. */
  confirm(done: readonly Concluded[]): Promise<void>
  /** Holds the rows until the transaction ends. */
  lock(inside: Statements, ids: readonly string[]): Promise<ReadonlyMap<string, Locked>>
  /** Attempts as they were, and where the deliveries go from there. */
  redirect(inside: Statements, changes: readonly Redirected[]): Promise<void>
  keep(inside: Statements, attempts: readonly Concluded[]): Promise<void>
  /** Its attempt waits until then; null when its turn is over. */
  postpone(inside: Statements, waits: readonly Wait[]): Promise<readonly Live[]>
  /** Claimed ones that nobody confirmed in time. */
  overdueClaims(now: Date, limit: number): Promise<readonly string[]>
  /** Pending ones whose announcement should long have been handled: due again, now. */
  overdueAttempts(inside: Statements, dueBefore: Date, now: Date, limit: number): Promise<readonly Live[]>

  /** True once, and for the act that it was true for; null when there is no such delivery of theirs. */
  claim(owner: Owner, id: string, act: string, now: Date): Promise<boolean | null>
  /** Due now with a schedule of its own, and to be claimed again; null when this act did it before, or there is none. */
  redeliver(inside: Statements, delivery: { owner: Owner; id: string }, act: string, now: Date): Promise<Live | null>

  find(owner: Owner, id: string): Promise<DeliveryDetail | null>
  /** Whether its target takes deliveries. */
  isOpen(owner: Owner, id: string): Promise<boolean | null>
  list(
    owner: Owner,
    filter: DeliveryFilter,
    page: Page,
  ): Promise<{ deliveries: readonly DeliveryView[]; total: number }>
  /** The newest of each subject. */
  bySubject(owner: Owner | null, subjects: readonly string[]): Promise<ReadonlyMap<string, AnsweredDelivery>>
}

/** Addresses and the secrets that sign for them. */
export interface TargetStore {
  put(inside: Statements, target: TargetRow): Promise<SealedSecrets>
  rotate(owner: Owner, id: string, made: { sealed: string; madeBy: string }, until: Date): Promise<void>
  secrets(owner: Owner, id: string): Promise<SealedSecrets | null>

  /** False when there are too many already. */
  addEndpoint(row: EndpointRow, most: number): Promise<boolean>
  findEndpoint(owner: Owner, id: string): Promise<Endpoint | null>
  listEndpoints(owner: Owner, page: Page): Promise<{ endpoints: readonly Endpoint[]; total: number }>
  changeEndpoint(owner: Owner, id: string, change: EndpointChange, now: Date): Promise<Endpoint | null>
  /** False when there is none. */
  removeEndpoint(owner: Owner, id: string): Promise<boolean>
  /** Those that are enabled and asked for it. */
  listening(inside: Statements, owner: Owner, event: EventName): Promise<readonly string[]>
  /** False where this one was sent already, or as many in the last hour as may be. */
  withinBound(inside: Statements, bound: EventBound, now: Date): Promise<boolean>
  /** Of these accounts, those with such an endpoint for one of the events. */
  listeners(inside: Statements, owners: readonly Owner[], events: readonly EventName[]): Promise<readonly Owner[]>
  /** Marks since when they fail; answers that of the endpoints that are enabled. */
  failing(inside: Statements, ids: readonly string[], now: Date): Promise<readonly Failing[]>
  /** Those that were enabled until now. */
  disable(inside: Statements, ids: readonly string[], now: Date): Promise<readonly Endpoint[]>
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
  createdAt: Date
}

/** What an attempt needs to know. */
export interface Outgoing {
  id: string
  owner: Owner
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

export interface SealedSecrets {
  sealed: string
  previous: { sealed: string; expiresAt: Date } | null
}

/** An attempt that came to its end. */
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
  /** Of a delivery that ends without an attempt. */
  error: string | null
}

export interface Wait {
  id: string
  turn: number
  dueAt: Date
}

/** The turn that is to be announced. */
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

/** The guarded client's way to an address that a user gave. */
export type Post = (request: OutboundRequest) => Promise<StreamedResponse>

/** What an event of this type says, of something that did not happen. Built by what builds the real ones. */
export type SampleOf = (event: EventName, now: Date) => Readonly<Record<string, unknown>>

export type CheckAddress = (url: string) => Promise<void>

/** Secrets at rest; the context says whose. */
export interface Sealing {
  seal(secret: string, context: string): string
  open(sealed: string, context: string): string
}

export type SecretsOf = (owner: Owner) => Promise<SigningSecret>

/** Writes announcements in the transaction that they belong to. */
export type Announce = (inside: Statements, announcements: readonly Announcement[]) => Promise<void>

/** Told after every attempt at a target. A hint: it may be lost with its process. */
export type Listener = (targetId: string, attempted: Attempted) => Promise<void>

/** A mail to an account's own address, where there is one. Safe to repeat: the id names the mail. */
export type MailOwner = (userId: string, mail: { id: string; subject: string; text: string }) => Promise<void>

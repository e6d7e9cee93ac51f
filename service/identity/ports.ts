import type { Id } from '../kit/ids.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Environment, Owner } from '../kit/owner.ts'
import type { ApiKey, EmailChange, Notice } from './model.ts'
import type { Caller, Person, User } from '../kit/caller.ts'
import type { KeyTrace } from './rules.ts'

/** Where users, keys and signing secrets are kept. */
export interface IdentityStore {
  findUser(issuer: string, subject: string): Promise<Account | null>
  /** Makes the user, or brings what is known of them up to date, and holds their row until the transaction ends. */
  saveUser(person: Person, id: Id<'usr'>, now: Date, inside: Statements): Promise<Account & { created: boolean }>
  markGranted(user: Id<'usr'>, environment: Environment, now: Date, inside: Statements): Promise<void>
  /** Counts one of each, in their order, on this day; false when one of them is used up. */
  takeGrants(sources: readonly { source: string; most: number }[], now: Date, inside: Statements): Promise<boolean>
  /** Notes that this account's credits were held back. */
  markWithheld(user: Id<'usr'>, now: Date, inside: Statements): Promise<void>
  isWithheld(user: string): Promise<boolean>
  /** Their address, where it is known to be theirs. */
  findConfirmedEmail(user: string, inside?: Statements): Promise<string | null>
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>

  findKey(hash: Buffer): Promise<FoundKey | null>
  /** At most once a minute for a key, however often it is called. */
  touchKey(id: Id<'key'>, now: Date): Promise<void>
  listKeys(owner: Owner, page: { limit: number; offset: number }): Promise<{ keys: readonly ApiKey[]; total: number }>
  /** Under an id that exists, one of this owner's and never used, only the secret is made anew; else null. */
  saveKey(key: ApiKey, trace: KeyTrace): Promise<ApiKey | null>
  /** False when this very id or secret exists already. */
  addKey(key: ApiKey, trace: KeyTrace): Promise<boolean>
  /** False when the owner has no such key that is not revoked. */
  revokeKey(owner: Owner, id: string, now: Date): Promise<boolean>
  revokeKeysOf(owner: Owner, agentId: Id<'agt'>, now: Date): Promise<void>

  findSigningSecret(owner: Owner): Promise<SealedSecret | null>
  /** Does nothing when there is one. */
  addSigningSecret(owner: Owner, made: { sealed: string; madeBy: string; createdAt: Date }): Promise<void>
  /** Puts a new one before the present one, unless the same act did so already. */
  rotateSigningSecret(
    owner: Owner,
    made: { sealed: string; madeBy: string; createdAt: Date },
    until: Date,
  ): Promise<void>
}

export interface Account {
  user: User
  granted: Record<Environment, boolean>
}

export interface FoundKey {
  id: Id<'key'>
  environment: Environment
  agentId: Id<'agt'> | null
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
  user: User
}

export interface SealedSecret {
  sealed: string
  createdAt: Date
  previous: { sealed: string; expiresAt: Date } | null
}

/** Secrets at rest; the context says whose, and opens nothing else. */
export interface Sealing {
  seal(secret: string, context: string): string
  open(sealed: string, context: string): string
}

/** The built-in sign-in, an identity provider in the same process. */
export interface SignIn {
  /** Answers a request under /auth. */
  handle(request: Request): Promise<Response>
  /** Whose session this is; null when it is none or over. */
  personOf(session: { bearer: string } | { cookie: string }): Promise<Person | null>
  /** Who has this e-mail address; when nobody has, somebody is made who has no way to sign in. */
  ensurePerson(email: string, name: string): Promise<Person>
  /** The link that confirms somebody's e-mail address; null when there is nothing to confirm. */
  confirmation(subject: string): Promise<{ email: string; link: string } | null>
  /** The link to a new password; null for whoever has no e-mail address. The same mail always holds the same one. */
  reset(subject: string, mailId: string): Promise<{ email: string; link: string } | null>
  /** The link that puts this address in the place of theirs; null when theirs has become another one since. */
  emailChange(change: EmailChange, askedAt: Date): Promise<string | null>
}

/** What the built-in sign-in tells: all may be told twice. */
export interface Welcome {
  signedIn(person: Person): Promise<void>
  confirmationWanted(subject: string): Promise<void>
  resetWanted(subject: string): Promise<void>
  emailChangeWanted(change: EmailChange): Promise<void>
  /** In a transaction of its own: the act was in one of the library's. */
  changed(to: string | null, notice: Notice): Promise<void>
  tell: Tell
}

/**
 * Writes the mail that tells of something, in the transaction in which it happens. Nobody is told where `to` is null:
 * only a confirmed address is known to be theirs.
 */
export type Tell = (inside: Statements, to: string | null, notice: Notice) => Promise<void>

/** The configured OpenID Connect issuer. Throws `unauthenticated`, or that the issuer cannot be reached. */
export interface TokenIssuer {
  verify(token: string, now: Date): Promise<Person>
}

/** A GET to the issuer, or a POST of a form; guarded and limited by whoever hands this in. */
export type FetchDocument = (
  url: string,
  more?: { form?: URLSearchParams; authorization?: string },
) => Promise<{ status: number; text: string }>

export interface WalletSignatures {
  /** The message that this wallet signed, for this site, now; throws why it does not count. */
  read(message: string, signature: string, expected: WalletExpectation): Promise<WalletMessage>
}

export interface WalletExpectation {
  /** Host and port, as a browser shows them. */
  domain: string
  /** With the scheme: what the message's URI has to begin with. */
  origin: string
  chainIds: readonly number[]
  now: Date
}

export interface WalletMessage {
  /** With its checksum. */
  address: string
  nonce: string
}

/** The wallets that sign in to an account. Its subject is who it is in the built-in sign-in. */
export interface ConnectedWallets {
  of(subject: string): Promise<readonly ConnectedWallet[]>
  /** As it is connected now; or that it signs in to another account, or that this account has as many as it may. */
  connect(subject: string, address: string, now: Date): Promise<ConnectedWallet | 'taken' | 'full'>
  /** Never the last way into the account, whatever else happens at the same moment. */
  disconnect(subject: string, address: string, now: Date): Promise<'gone' | 'missing' | 'last'>
}

/** The e-mail address by which somebody signs in. */
export interface SignInEmails {
  /** `stale` when it is no longer the one that was to be changed, `taken` when somebody else signs in by the new one. */
  change(change: EmailChange, now: Date): Promise<'changed' | 'stale' | 'taken'>
}

export interface ConnectedWallet {
  /** With its checksum. */
  address: string
  connectedAt: Date
}

export interface Mailer {
  send(mail: Mail): Promise<void>
}

export interface Mail {
  /** The same for every attempt at the same mail. */
  id: string
  to: string
  subject: string
  text: string
}

/** Whether somebody has an agent of this id, in the environment asked about. */
export type AgentExists = (owner: Owner, agentId: string) => Promise<boolean>

/** The caller's wallet as the specification shows it, or null when there is none. */
export type WalletOf = (caller: Caller) => Promise<Record<string, unknown> | null>

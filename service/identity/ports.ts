import type { Id } from '../kit/ids.ts'
import type { SealedSecrets } from '../kit/sealed-secrets.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Environment, Owner } from '../kit/owner.ts'
import type { ApiKey, EmailChange, Notice } from './model.ts'
import type { Caller, Person, User } from '../kit/caller.ts'
import type { KeyTrace } from './rules.ts'

export interface MadeKey {
  /** The key that made it; null for one that a signed-in person made. */
  parentId: Id<'key'> | null
  made(inside: Statements): Promise<void>
}

/** Stores users, keys and signing secrets. */
export interface IdentityStore {
  findUser(issuer: string, subject: string): Promise<Account | null>
  /** Creates or updates the user, and locks their row until the transaction ends. */
  saveUser(person: Person, id: Id<'usr'>, now: Date, inside: Statements): Promise<Account & { created: boolean }>
  markGranted(user: Id<'usr'>, environment: Environment, now: Date, inside: Statements): Promise<void>
  /** Counts one grant for each source, in their order, on this day; false when a source has reached its limit. */
  takeGrants(sources: readonly { source: string; most: number }[], now: Date, inside: Statements): Promise<boolean>
  /** Records that this account's credits were withheld. */
  markWithheld(user: Id<'usr'>, now: Date, inside: Statements): Promise<void>
  /** Their e-mail address, if it is confirmed. */
  findConfirmedEmail(user: string, inside?: Statements): Promise<string | null>
  /** The account's handle; null when it has none. */
  handleOf(user: string): Promise<string | null>
  /** The account with this handle. */
  findByHandle(handle: string): Promise<string | null>
  /**
   * Makes it the account's handle, or leaves the account without one. The handle before stays the account's for a while.
   * Throws `handle_taken` when another account has the new one.
   */
  saveHandle(user: Id<'usr'>, handle: string | null, now: Date): Promise<void>
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>

  findKey(hash: Buffer): Promise<FoundKey | null>
  findKeyById(id: Id<'key'>): Promise<FoundKey | null>
  /** Writes at most once a minute for a key, however often it is called. */
  touchKey(id: Id<'key'>, now: Date): Promise<void>
  listKeys(owner: Owner, page: { limit: number; offset: number }): Promise<{ keys: readonly ApiKey[]; total: number }>
  /**
   * Adds the key. If its id exists, replaces only the secret, provided that the key is this owner's, was never used and
   * is not revoked; otherwise returns null. `made` runs in the transaction that adds it. With a parent, null too once that
   * is revoked.
   */
  saveKey(key: ApiKey, trace: KeyTrace, of: MadeKey): Promise<ApiKey | null>
  /** False when this id or secret already exists. */
  addKey(key: ApiKey, trace: KeyTrace): Promise<boolean>
  /** Revokes the keys that it made as well. False when the owner has no such active key. */
  revokeKey(owner: Owner, id: string, now: Date): Promise<boolean>
  revokeKeysOf(owner: Owner, agentId: Id<'agt'>, now: Date): Promise<void>

  findSigningSecret(owner: Owner): Promise<SealedSecret | null>
  /** Does nothing when the owner has one already. */
  addSigningSecret(owner: Owner, made: { sealed: string; madeBy: string; createdAt: Date }): Promise<void>
  /** Replaces the current secret by a new one, unless the same operation did so already. */
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

export interface SealedSecret extends SealedSecrets {
  createdAt: Date
}

/** Encrypts secrets at rest; the context names their owner, and no other context decrypts them. */
export interface Sealing {
  seal(secret: string, context: string): string
  open(sealed: string, context: string): string
}

/** The built-in sign-in, an identity provider in the same process. */
export interface SignIn {
  /** Answers a request under /auth. */
  handle(request: Request): Promise<Response>
  /** The person whose session this is; null when the session does not exist or has ended. */
  personOf(session: { bearer: string } | { cookie: string }): Promise<Person | null>
  /** The person with this e-mail address; if there is none, creates one who has no way to sign in. */
  ensurePerson(email: string, name: string): Promise<Person>
  /** The link that confirms a person's e-mail address; null when there is nothing to confirm. */
  confirmation(subject: string): Promise<{ email: string; link: string } | null>
  /**
   * The link to a new password; null for a person without an e-mail address. The same mail id gives the same link, until
   * the password or the address changes.
   */
  reset(subject: string, mailId: string): Promise<{ email: string; isConfirmed: boolean; link: string } | null>
  /** The link that changes a person's e-mail address to the new one; null when their address has changed since. */
  emailChange(change: EmailChange, askedAt: Date): Promise<string | null>
}

/** The events of the built-in sign-in; each may be reported twice. */
export interface Welcome {
  signedIn(person: Person): Promise<void>
  confirmationWanted(subject: string): Promise<void>
  resetWanted(subject: string): Promise<void>
  emailChangeWanted(change: EmailChange): Promise<void>
  /** Uses its own transaction, because better-auth made the change in one of its transactions. */
  changed(to: string | null, notice: Notice): Promise<void>
  tell: Tell
}

/**
 * Writes the notice mail in the same transaction as the change. Sends none when `to` is null: only a confirmed address
 * is known to be the owner's.
 */
export type Tell = (inside: Statements, to: string | null, notice: Notice) => Promise<void>

/**
 * The configured OpenID Connect issuer. Throws `unauthenticated`, or an error that says the issuer cannot be reached.
 */
export interface TokenIssuer {
  verify(token: string, now: Date): Promise<Person>
}

/** A GET to the issuer, or a POST of a form; the function's provider guards and limits the request. */
export type FetchDocument = (
  url: string,
  more?: { form?: URLSearchParams; authorization?: string },
) => Promise<{ status: number; text: string }>

export interface WalletSignatures {
  /**
   * The message, after checking that this wallet signed it, for this site and still in time; otherwise throws the
   * reason.
   */
  read(message: string, signature: string, expected: WalletExpectation): Promise<WalletMessage>
}

export interface WalletExpectation {
  /** Host and port, as a browser shows them. */
  domain: string
  /** With the scheme; the message's URI must begin with it. */
  origin: string
  chainIds: readonly number[]
  now: Date
}

export interface WalletMessage {
  /** With its checksum. */
  address: string
  nonce: string
}

/** The wallets that sign in to an account; the subject is its user in the built-in sign-in. */
export interface ConnectedWallets {
  of(subject: string): Promise<readonly ConnectedWallet[]>
  /**
   * The connected wallet, or `taken` if it signs in to another account, or `full` if this account has the most wallets
   * allowed.
   */
  connect(subject: string, address: string, now: Date): Promise<ConnectedWallet | 'taken' | 'full'>
  /** Never removes the last way to sign in to the account, even when another removal runs at the same moment. */
  disconnect(subject: string, address: string, now: Date): Promise<'gone' | 'missing' | 'last'>
}

/** The e-mail address that a person signs in with. */
export interface SignInEmails {
  /**
   * `stale` when the address to be changed is no longer the current one, `taken` when another person signs in with the
   * new one.
   */
  change(change: EmailChange, now: Date): Promise<'changed' | 'stale' | 'taken'>
  /** Ends the links to a new password that were mailed before. */
  endResets(subject: string): Promise<void>
  /** Removes the password of an account whose address was never confirmed. */
  forgetPassword(subject: string): Promise<void>
  /**
   * False when the address was confirmed before, and then changes nothing. A replaced password, which a stranger may have
   * chosen, takes what they made along: the sessions, wallets and API keys of the account. Its hash is null where it is
   * stored already.
   */
  confirm(subject: string, replaced: { hash: string | null; at: Date } | null): Promise<boolean>
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
  files?: readonly { name: string; type: string; bytes: Buffer }[]
}

/** Whether the owner has an agent of this id in the owner's environment. */
export type AgentExists = (owner: Owner, agentId: string) => Promise<boolean>

/**
 * Credits the deposits of a transaction, as far as the chain proves them. A network without a known name stands for all.
 * Returns how many were credited.
 */
export type CreditDeposits = (transactionHash: `0x${string}`, network: string | null) => Promise<number>

/** The caller's wallet as the specification shows it, or null when there is none. */
export type WalletOf = (caller: Caller) => Promise<Record<string, unknown> | null>

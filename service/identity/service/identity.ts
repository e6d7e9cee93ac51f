import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { JsonObject } from '../../queue/model.ts'
import { confirmationMail, emailChangeMail, noticeMail, resetMail } from '../mails.ts'
import type { EmailChange, Notice } from '../model.ts'
import { accountOf, type Caller, type User } from '../../kit/caller.ts'
import type { AgentExists, IdentityStore, Mail, Mailer, Sealing, SignIn, Tell, TokenIssuer, Welcome } from '../ports.ts'
import { isHandle, type GrantBounds } from '../rules.ts'
import { fromAddress } from './sign-up.ts'
import { ensureDemoAccount } from './demo.ts'
import { createIdentify } from './identify.ts'
import { createKeys } from './keys.ts'
import { createSignUp } from './sign-up.ts'
import { createSigningSecrets } from './signing-secret.ts'

/** Identifies callers and manages their keys and signing secrets. */
export function createIdentity(deps: IdentityDeps) {
  const { store, clock } = deps
  const announceConfirmation = (subject: string, inside: Statements): Promise<void> =>
    deps.announce(inside, { topic: CONFIRMATION, payload: { subject } })
  const tell: Tell = async (inside, to, notice) => {
    if (to !== null) await deps.announce(inside, { topic: NOTICE, payload: { to, notice } })
  }
  const signUp = createSignUp({ ...deps, announceConfirmation })
  const signIn = deps.signIn({
    signedIn: async (person) => {
      await signUp(person)
    },
    confirmationWanted: (subject) => store.inTransaction((inside) => announceConfirmation(subject, inside)),
    resetWanted: (subject) =>
      store.inTransaction((inside) => deps.announce(inside, { topic: RESET, payload: { subject } })),
    emailChangeWanted: (change) =>
      store.inTransaction((inside) => deps.announce(inside, { topic: EMAIL_CHANGE, payload: { ...change } })),
    changed: (to, notice) => store.inTransaction((inside) => tell(inside, to, notice)),
    tell,
  })
  const { identify, identifyKey, settled } = createIdentify({ ...deps, signIn, signUp })

  /** Mails only a user with a confirmed address; others cannot be reached. Safe to repeat: the id names the mail. */
  async function mailTo(userId: string, mail: Omit<Mail, 'to'>): Promise<void> {
    const to = await store.findConfirmedEmail(userId)
    if (to !== null) await deps.mailer.send({ to, ...mail })
  }

  async function tellOwner(inside: Statements, userId: string, notice: Notice): Promise<void> {
    await tell(inside, await store.findConfirmedEmail(userId, inside), notice)
  }

  const mayMailCustomer = (to: string): Promise<boolean> => deps.mayMail('customer', to.toLowerCase())

  return {
    identify,
    identifyKey,
    signUp,
    keys: createKeys({ ...deps, tellOwner }),
    signingSecrets: createSigningSecrets(deps),

    /** The account's public name, under which its MCP address is. Null when it has none. */
    handleOf: (caller: Caller): Promise<string | null> =>
      caller.user === null ? Promise.resolve(null) : store.handleOf(caller.user.id),

    setHandle: (caller: Caller, handle: string | null): Promise<void> =>
      store.saveHandle(accountOf(caller).userId, handle, clock.now()),

    /** The account with this handle; null when there is none. */
    byHandle: (handle: string): Promise<string | null> =>
      isHandle(handle) ? store.findByHandle(handle) : Promise.resolve(null),

    /** The sign-in's own requests, everything under /auth. */
    answerSignIn: (request: Request, address: string | null = null): Promise<Response> =>
      address === null ? signIn.handle(request) : fromAddress(address, () => signIn.handle(request)),

    /** Signs up a caller with a token of the configured issuer; every other caller is a user already. */
    async signUpCaller(
      caller: Caller,
      address: string,
    ): Promise<{ caller: Caller & { user: User }; created: boolean }> {
      if (caller.person === undefined && caller.user !== null) {
        return { caller: { ...caller, user: caller.user }, created: false }
      }
      if (caller.person === undefined) throw new Error('a caller is a user or brings a token')
      const { person } = caller
      const { user, created } = await fromAddress(address, () => signUp(person))
      return { caller: { ...caller, user }, created }
    },

    /** Safe to repeat: the mail has the announcement's id, and a confirmed address gets none. */
    async sendConfirmation(subject: string, id: string): Promise<void> {
      const wanted = await signIn.confirmation(subject)
      if (wanted !== null) await deps.mailer.send({ id, ...confirmationMail(wanted) })
    },

    /** Safe to repeat: the mail's id names its link. */
    async sendReset(subject: string, id: string): Promise<void> {
      const wanted = await signIn.reset(subject, id)
      if (wanted !== null) await deps.mailer.send({ id, ...resetMail(wanted) })
    },

    /** Safe to repeat: every such link does the same. */
    async sendEmailChange(change: EmailChange, { id, announcedAt }: Announced): Promise<void> {
      const link = await signIn.emailChange(change, announcedAt)
      if (link !== null) await deps.mailer.send({ id, ...emailChangeMail({ ...change, link }) })
    },

    /**
     * A limit on notices of one kind keeps repeated changes from filling a mailbox; the first notices already warn the
     * owner.
     */
    async sendNotice({ to, notice }: { to: string; notice: Notice }, sent: Announced & { attempt: number }) {
      const { id, attempt, announcedAt } = sent
      if (attempt === 0 && !(await deps.mayMail(notice.kind, to))) return
      await deps.mailer.send({ id, to, ...noticeMail(notice, announcedAt, deps.dashboard) })
    },

    /** Writes the notice in the same transaction as the change. An owner without a confirmed address gets none. */
    tellOwner,

    mailTo,

    /** The same for what may happen as often as programs make it happen: a limited number of a kind in an hour. */
    async mailCounted(userId: string, mail: Omit<Mail, 'to'>, { kind, attempt }: { kind: string; attempt: number }) {
      if (attempt === 0 && !(await deps.mayMailOwner(kind, userId))) return
      await mailTo(userId, { ...mail, text: `${mail.text}\n${COUNTED}\n` })
    },

    /** Whether one more mail may go to an address that a customer entered: a stranger must not fill a mailbox. */
    mayMailCustomer,

    /** Mails an address that a customer entered. Safe to repeat: the id names the mail. */
    async mailCustomer(mail: Mail): Promise<void> {
      if (!(await mayMailCustomer(mail.to))) return
      try {
        await deps.mailer.send(mail)
      } catch (error) {
        // Only what was sent counts, or the attempts of an outage would use up the hour of a mail that is tried again.
        await deps.notMailed('customer', mail.to.toLowerCase())
        throw error
      }
    },

    /** The same, where `mayMailCustomer` has counted it. */
    sendCounted: (mail: Mail): Promise<void> => deps.mailer.send(mail),

    /**
     * Whether the buyer of a simulated payment may have mail at this address: on a live server only the account itself,
     * since such payments cost strangers nothing.
     */
    async reachesTestBuyer(userId: string, to: string): Promise<boolean> {
      return !deps.live || (await store.findConfirmedEmail(userId))?.toLowerCase() === to.toLowerCase()
    },

    /** Returns the demo account's key when this call created it. Never called on a live server. */
    async ensureDemoAccount(options: { apiKey?: string | undefined } = {}): Promise<string | null> {
      if (deps.live) throw new Error('a live server has no demo account')
      return await ensureDemoAccount({ store, clock, signIn, signUp }, options.apiKey)
    },

    /** Resolves when nothing is left to write; await it before closing the database. */
    settled,
  }
}

export type Identity = ReturnType<typeof createIdentity>

export interface IdentityDeps {
  store: IdentityStore
  ledger: Ledger
  clock: Clock
  log: Log
  sealing: Sealing
  mailer: Mailer
  agentExists: AgentExists
  /** Creates the built-in sign-in with the listener for its events. */
  signIn: (welcome: Welcome) => SignIn
  issuer: TokenIssuer | null
  /** Writes an announcement in the transaction of the change that it announces. */
  announce(inside: Statements, announcement: { topic: string; payload: JsonObject }): Promise<void>
  /**
   * Whether one more mail of this kind may be sent to this recipient now: a stranger who knows an address must not fill
   * its mailbox.
   */
  mayMail(kind: string, to: string): Promise<boolean>
  /** Whether one more mail of this kind may be sent to this user now. */
  mayMailOwner(kind: string, userId: string): Promise<boolean>
  /** What `mayMail` has counted was not sent. */
  notMailed(kind: string, to: string): Promise<void>
  live: boolean
  credits: Usdc
  grantBounds: GrantBounds
  /** The dashboard's public address; links in mails lead there. */
  dashboard: string
}

/** The id and time of the row in the outbox. */
interface Announced {
  id: string
  announcedAt: Date
}

const COUNTED = 'After many mails of this kind, no more are sent for up to an hour. The dashboard shows everything.'

export const CONFIRMATION = 'identity.confirmation'
export const RESET = 'identity.password-reset'
export const EMAIL_CHANGE = 'identity.email-change'
export const NOTICE = 'identity.notice'

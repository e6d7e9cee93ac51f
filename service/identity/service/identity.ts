import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { JsonObject } from '../../queue/model.ts'
import { confirmationMail, emailChangeMail, noticeMail, resetMail } from '../mails.ts'
import type { EmailChange, Notice } from '../model.ts'
import type { Caller, User } from '../../kit/caller.ts'
import type { AgentExists, IdentityStore, Mail, Mailer, Sealing, SignIn, Tell, TokenIssuer, Welcome } from '../ports.ts'
import type { GrantBounds } from '../rules.ts'
import { fromAddress } from './sign-up.ts'
import { ensureDemoAccount } from './demo.ts'
import { createIdentify } from './identify.ts'
import { createKeys } from './keys.ts'
import { createSignUp } from './sign-up.ts'
import { createSigningSecrets } from './signing-secret.ts'

/** Who is asking, and what is theirs to ask with. */
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
  const { identify, settled } = createIdentify({ ...deps, signIn, signUp })

  return {
    identify,
    signUp,
    keys: createKeys(deps),
    signingSecrets: createSigningSecrets(deps),

    /** The sign-in's own requests, everything under /auth. */
    answerSignIn: (request: Request, address: string | null = null): Promise<Response> =>
      address === null ? signIn.handle(request) : fromAddress(address, () => signIn.handle(request)),

    /** Whether the credits of this account's sign-up were held back, by a day's bound. */
    creditsWithheld: (user: string): Promise<boolean> => store.isWithheld(user),

    /** Signs up whoever brought a token of the configured issuer; for everybody else nothing is left to do. */
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

    /** Safe to repeat: the mail's id is the announcement's, and a confirmed address gets none. */
    async sendConfirmation(subject: string, id: string): Promise<void> {
      const wanted = await signIn.confirmation(subject)
      if (wanted !== null) await deps.mailer.send({ id, ...confirmationMail(wanted) })
    },

    /** Safe to repeat: the mail's id names its link. */
    async sendReset(subject: string, id: string): Promise<void> {
      const wanted = await signIn.reset(subject, id)
      if (wanted !== null) await deps.mailer.send({ id, ...resetMail(wanted) })
    },

    /** Safe to repeat: every one of them opens the same. */
    async sendEmailChange(change: EmailChange, { id, announcedAt }: Announced): Promise<void> {
      const link = await signIn.emailChange(change, announcedAt)
      if (link !== null) await deps.mailer.send({ id, ...emailChangeMail({ ...change, link }) })
    },

    /** Whoever does the same again and again fills nobody's mailbox: the first ones have said it. */
    async sendNotice({ to, notice }: { to: string; notice: Notice }, sent: Announced & { attempt: number }) {
      const { id, attempt, announcedAt } = sent
      if (attempt === 0 && !(await deps.mayMail(notice.kind, to))) return
      await deps.mailer.send({ id, to, ...noticeMail(notice, announcedAt, deps.dashboard) })
    },

    /** In the transaction of what the owner is told; nobody hears of it who has confirmed no address. */
    async tellOwner(inside: Statements, userId: string, notice: Notice): Promise<void> {
      await tell(inside, await store.findConfirmedEmail(userId, inside), notice)
    },

    /** To whoever has confirmed an address; nobody else can be reached. Safe to repeat: the id names the mail. */
    async mailTo(userId: string, mail: Omit<Mail, 'to'>): Promise<void> {
      const to = await store.findConfirmedEmail(userId)
      if (to !== null) await deps.mailer.send({ to, ...mail })
    },

    /** Answers the demo account's key when this call made it. Never called on a live server. */
    async ensureDemoAccount(options: { apiKey?: string | undefined } = {}): Promise<string | null> {
      if (deps.live) throw new Error('a live server has no demo account')
      return await ensureDemoAccount({ store, clock, signIn, signUp }, options.apiKey)
    },

    /** When nothing is left to be written: ask before closing the database. */
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
  /** The built-in sign-in, made with whom it has to tell. */
  signIn: (welcome: Welcome) => SignIn
  issuer: TokenIssuer | null
  /** Writes an announcement in the transaction that it belongs to. */
  announce(inside: Statements, announcement: { topic: string; payload: JsonObject }): Promise<void>
  /** Whether one more mail of a kind may go to somebody now: nobody's mailbox is filled by whoever knows its address. */
  mayMail(kind: string, to: string): Promise<boolean>
  live: boolean
  credits: Usdc
  grantBounds: GrantBounds
  /** Its public address: mails lead there. */
  dashboard: string
}

/** Of the row in the outbox. */
interface Announced {
  id: string
  announcedAt: Date
}

export const CONFIRMATION = 'identity.confirmation'
export const RESET = 'identity.password-reset'
export const EMAIL_CHANGE = 'identity.email-change'
export const NOTICE = 'identity.notice'

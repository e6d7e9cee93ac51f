import type { Clock } from '../../kit/clock.ts'
import type { Id } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import { unauthenticated } from '../errors.ts'
import type { Caller, Person } from '../../kit/caller.ts'
import type { FoundKey, IdentityStore, SignIn, TokenIssuer } from '../ports.ts'
import { environmentAsked, environmentOfKey, hashOf, isUsable, toCredential } from '../rules.ts'
import type { SignUp } from './sign-up.ts'

/** The request's headers that identify the caller, unchanged. */
export interface Credentials {
  authorization: string | undefined
  /** Used only without an Authorization header. */
  cookie?: string | undefined
  /** The header Coinslot-Environment. */
  environmentHeader: string | undefined
  /** The header Coinslot-Account: whose page sends the request, where a browser shares one session among its pages. */
  accountHeader?: string | undefined
  now: Date
}

export function createIdentify(deps: IdentifyDeps) {
  const { store, live } = deps
  const uses = noteUses(deps)

  /** Throws `unauthenticated`, with the reason. */
  async function identify(asked: Credentials): Promise<Caller> {
    if (asked.authorization !== undefined) {
      const credential = toCredential(asked.authorization)
      switch (credential.kind) {
        case 'key':
          return await byKey(credential.text, asked)
        case 'token':
          return await byToken(credential.text, asked)
        case 'session':
          return await bySession(await deps.signIn.personOf({ bearer: credential.text }), asked)
      }
    }
    if (asked.cookie === undefined) throw unauthenticated('credential_missing')
    return await bySession(await deps.signIn.personOf({ cookie: asked.cookie }), asked)
  }

  async function byKey(text: string, asked: Credentials): Promise<Caller> {
    const key = await store.findKey(hashOf(text))
    // The key is found by its hash, so only a caller who holds the whole key learns that it exists.
    return byFoundKey(key, asked)
  }

  function byFoundKey(key: FoundKey | null, asked: Pick<Credentials, 'environmentHeader' | 'now'>): Caller {
    if (key === null) throw unauthenticated('key_unknown')
    if (!isUsable(key, asked.now)) throw unauthenticated(key.revokedAt === null ? 'key_expired' : 'key_revoked')
    const environment = environmentOfKey(key.environment, asked.environmentHeader, live)
    uses.note(key, asked.now)
    const { user, id: keyId, agentId } = key
    return { user, subject: user.subject, issuer: user.issuer, environment, via: 'key', keyId, agentId }
  }

  async function byToken(token: string, asked: Credentials): Promise<Caller> {
    if (deps.issuer === null) throw unauthenticated()
    const person = await deps.issuer.verify(token, asked.now)
    const environment = environmentAsked(asked.environmentHeader, live)
    const account = await store.findUser(person.issuer, person.subject)
    const { issuer, subject } = person
    return {
      user: account?.user ?? null,
      subject,
      issuer,
      environment,
      via: 'token',
      keyId: null,
      agentId: null,
      person,
    }
  }

  async function bySession(person: Person | null, asked: Credentials): Promise<Caller> {
    if (person === null) throw unauthenticated()
    const { accountHeader = encodeURIComponent(person.subject) } = asked
    if (accountHeader !== encodeURIComponent(person.subject)) throw unauthenticated('account_changed')
    const environment = environmentAsked(asked.environmentHeader, live)
    // Finds a completely signed-up user with one query, and completes a sign-up that was interrupted.
    const { user } = await deps.signUp(person)
    const { issuer, subject } = person
    return { user, subject, issuer, environment, via: 'session', keyId: null, agentId: null }
  }

  return {
    identify,
    /** For a credential that stands for a key. Throws like `identify`. */
    identifyKey: async (id: Id<'key'>, asked: Pick<Credentials, 'environmentHeader' | 'now'>) =>
      byFoundKey(await store.findKeyById(id), asked),
    settled: uses.settled,
  }
}

export interface IdentifyDeps {
  store: IdentityStore
  signIn: SignIn
  signUp: SignUp
  /** Null when no OpenID Connect issuer is configured. */
  issuer: TokenIssuer | null
  live: boolean
  clock: Clock
  log: Log
}

/** Records when a key was last used, beside the requests; no request waits for it. */
function noteUses({ store, log }: IdentifyDeps) {
  const writing = new Map<string, Promise<void>>()
  return {
    note(key: FoundKey, now: Date): void {
      const { id, lastUsedAt } = key
      const recent = lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < NOTED_EVERY_MS
      if (recent || writing.has(id)) return
      const written = store
        .touchKey(id, now)
        .catch((error: unknown) => log.warn({ err: error, keyId: id }, 'The last use of a key could not be saved.'))
        .finally(() => writing.delete(id))
      writing.set(id, written)
    },
    /** Resolves when all records are written; await it before the database closes. */
    async settled(): Promise<void> {
      await Promise.all(writing.values())
    },
  }
}

const NOTED_EVERY_MS = 60_000

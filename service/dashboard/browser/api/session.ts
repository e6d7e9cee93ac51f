import { useSyncExternalStore } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { user } from '../../../identity/http/sign-in.ts'
import { openWatched, remember, remembered } from '../../../ui-kit/watched.ts'
import { Fault, fromAnswer, silence, toFault } from './fault.ts'

/** The signed-in user. After `ended` the page stays, with all typed text. */
export type Session =
  | { state: 'unknown' }
  | { state: 'unreachable'; fault: Fault }
  | { state: 'none' }
  | { state: 'in'; user: SignedIn }
  | { state: 'ended'; user: SignedIn }

export interface SignedIn extends Pick<z.input<typeof user>, 'id' | 'name' | 'email' | 'emailVerified'> {
  issuer: string | null
}

/** The account in the sign-in's form. For an OpenID Connect user, the service uses the provider's subject as the id. */
interface SessionUser extends Omit<SignedIn, 'issuer'> {
  issuer?: string | null
  subject?: string | null
}

function toSignedIn({ subject, issuer, ...user }: SessionUser): SignedIn {
  return { ...user, id: subject ?? user.id, issuer: issuer ?? null }
}

/** A user who signed in by wallet has a stand-in address, which can belong to no one. */
export function isWallet({ email }: SignedIn): boolean {
  return email.endsWith('@wallet.invalid')
}

/** A provider that confirmed no address leaves a stand-in address too. */
export function hasEmail({ email }: SignedIn): boolean {
  return !email.endsWith('.invalid')
}

/** A user from an OpenID Connect provider has no password here. */
export function isFromProvider({ issuer }: SignedIn): boolean {
  return issuer !== null
}

const session = openWatched<Session>({ state: 'unknown' })
const KEPT = 'coinslot.signedIn'

/** Whether somebody was signed in when this browser was last here: only to load what is shown then early. */
export function wasSignedIn(): boolean {
  return remembered(KEPT) === 'yes'
}

export function useSession(): Session {
  return useSyncExternalStore(session.watch, session.read)
}

/**
 * Whose page this is. Its cookie is that of all pages of the browser: where another account has signed in in another one, the service
 * refuses what this page sends.
 */
export function accountHeaders(): Record<string, string> {
  const now = session.read()
  return 'user' in now ? { 'coinslot-account': encodeURIComponent(now.user.id) } : {}
}

/** Loads the session from the service; returns the user's id. */
export async function loadSession(): Promise<string | null> {
  try {
    const answer = (await call('GET', '/auth/get-session')) as { user: SessionUser } | null
    const user = answer === null ? null : toSignedIn(answer.user)
    remember(KEPT, user === null ? null : 'yes')
    session.set(user === null ? { state: 'none' } : { state: 'in', user })
    return user?.id ?? null
  } catch (error) {
    session.set({ state: 'unreachable', fault: toFault(error) })
    return null
  }
}

export function sessionEnded(): void {
  const now = session.read()
  if (now.state === 'in') session.set({ state: 'ended', user: now.user })
}

export async function signIn({ email, password }: Credentials): Promise<void> {
  await call('POST', '/auth/sign-in/email', { email: email.trim(), password })
}

/** False when the person must first follow a link in a mail. */
export async function signUp({ name, email, password }: Credentials & { name: string }): Promise<boolean> {
  const answer = await call('POST', '/auth/sign-up/email', { name: name.trim(), email: email.trim(), password })
  return (answer as { token: string | null }).token !== null
}

/** The provider's sign-in page; it leads back to this page. */
export async function beginAtProvider(next: string): Promise<string> {
  return ((await call('POST', '/auth/oidc/start', { next })) as { url: string }).url
}

interface Credentials {
  email: string
  password: string
}

export async function signOut(): Promise<void> {
  await call('POST', '/auth/sign-out', {})
  remember(KEPT, null)
  session.set({ state: 'none' })
}

/** Reads account data from the sign-in, which answers plain JSON, not tRPC. */
export function useAccount<T>(path: '/auth/email' | '/auth/list-sessions' | '/auth/siwe/wallets') {
  return useQuery<T, Fault>({ queryKey: [path], queryFn: async () => (await call('GET', path)) as T })
}

/** The sign-in answers plain JSON, not tRPC. */
export async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
  const isOfPage = session.read().state === 'in' && !OF_THE_BROWSER.has(path)
  const response = await fetch(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(isOfPage ? accountHeaders() : {}),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw silence()
  })
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return answer
  const fault = fromAnswer(response.status, answer)
  // A wrong password is a 401 too, with another code.
  if (fault.status !== 401 || !SESSION_OVER.has(fault.code) || session.read().state !== 'in') throw fault
  sessionEnded()
  throw new Fault(fault.message, { status: 401, code: 'unauthenticated', requestId: fault.requestId })
}

/** Sent without an account: they concern the browser's session, of whichever account. */
const OF_THE_BROWSER = new Set(['/auth/get-session', '/auth/sign-out'])
const SESSION_OVER = new Set(['unauthorized', 'unauthenticated'])

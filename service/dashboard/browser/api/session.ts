import { useSyncExternalStore } from 'react'
import { fromAnswer, silence, toFault, type Fault } from './fault.ts'

/** Who is signed in here. `ended` is after somebody was: their page stays, with all that was typed into it. */
export type Session =
  | { state: 'unknown' }
  | { state: 'unreachable'; fault: Fault }
  | { state: 'none' }
  | { state: 'in'; user: SignedIn }
  | { state: 'ended'; user: SignedIn }

export interface SignedIn {
  id: string
  name: string
  email: string
  emailVerified: boolean
}

/** Who signed in by wallet has an address that can never be anybody's. */
export function isWallet({ email }: SignedIn): boolean {
  return email.endsWith('@wallet.invalid')
}

let session: Session = { state: 'unknown' }
const listeners = new Set<() => void>()

export function useSession(): Session {
  return useSyncExternalStore(subscribe, () => session)
}

/** Asks the service who this is; answers the user's id. */
export async function loadSession(): Promise<string | null> {
  try {
    const answer = (await call('GET', '/auth/get-session')) as { user: SignedIn } | null
    set(answer === null ? { state: 'none' } : { state: 'in', user: answer.user })
    return answer?.user.id ?? null
  } catch (error) {
    set({ state: 'unreachable', fault: toFault(error) })
    return null
  }
}

export function sessionEnded(): void {
  if (session.state === 'in') set({ state: 'ended', user: session.user })
}

export async function signIn({ email, password }: Credentials): Promise<void> {
  await call('POST', '/auth/sign-in/email', { email: email.trim(), password })
}

export async function signUp({ name, email, password }: Credentials & { name: string }): Promise<void> {
  await call('POST', '/auth/sign-up/email', { name: name.trim(), email: email.trim(), password })
}

interface Credentials {
  email: string
  password: string
}

export async function signOut(): Promise<void> {
  await call('POST', '/auth/sign-out', {})
  set({ state: 'none' })
}

/** The sign-in speaks plain JSON, not tRPC. */
export async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => {
    throw silence()
  })
  const answer: unknown = await response.json().catch(() => null)
  if (!response.ok) throw fromAnswer(response.status, answer)
  return answer
}

function set(next: Session): void {
  session = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

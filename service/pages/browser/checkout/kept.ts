import type { PaymentPayload } from '../pay/authorization.ts'
import type { PayCall } from './api.ts'
import type { Choice } from './form.ts'
import { remember, remembered } from '../../../ui-kit/watched.ts'
import { isRecord } from '../../../ui-kit/provider.ts'

/**
 * What must survive a reload: a signature, stored before it is sent. A page that finds one sends it again and does not
 * ask for another, so that no reload pays twice.
 */
export interface SavedPayment {
  input: Record<string, unknown>
  choice?: Choice
  /** Set where an assistant's order was paid, which has its own input. */
  order?: string
  paymentPayload: PaymentPayload
  quoteId: string
  /** Chosen here, so that the answer can be fetched again if the first one is lost. */
  token?: string
  /** Where the receipt is to be mailed. */
  email?: string
  /** Set once the server has answered with a payment. */
  payment: string | null
  /** At a gate: whether the last attempt was answered, and charged nothing. */
  free?: boolean
}

/** What moves no money and uses something up: a run of a pass, a trial, a code. Sent with this key again, it is the same run. */
export interface SavedCall {
  call: PayCall
  key: string
  /** The call's own. */
  token: PayCall['token']
  payment: string | null
}

export type Saved = SavedPayment | SavedCall

/** What tells one from another. */
export function nameOf(kept: Saved): string {
  return 'call' in kept ? kept.key : kept.paymentPayload.payload.authorization.nonce
}

export interface Keeper<Kept = SavedPayment> {
  read(): Kept | null
  write(kept: Kept): void
  /** Stores what is made, and returns it; or what another tab has stored meanwhile, which takes its place. */
  writeFirst(make: () => Promise<Kept | null>): Promise<Kept | null>
  /** Only the matching one: another tab may have stored a different payment meanwhile. */
  forget(meant: (kept: Kept) => boolean): void
}

/** One per checkout or order, shared by all tabs of this browser. */
export function openKeeper<Kept extends Saved = SavedPayment>(of: string): Keeper<Kept> {
  const name = `coinslot:${of}`
  const read = (): Kept | null => fromText(storedText(name)) as Kept | null
  const write = (kept: Kept): void => storeText(name, JSON.stringify({ version: VERSION, ...kept }))
  return {
    read,
    write,
    async writeFirst(make) {
      let other: Kept | null = null
      const look = ({ key, newValue }: StorageEvent): void => {
        if (key !== name) return
        const kept = fromText(newValue) as Kept | null
        // Forgotten before it was a payment: it was refused.
        if (kept !== null || other?.payment == null) other = kept
      }
      addEventListener('storage', look)
      const made = await make().finally(() => removeEventListener('storage', look))
      if (made === null) return null
      const put = (): Kept => {
        const first = read() ?? other
        if (first === null) write(made)
        return first ?? made
      }
      // Browsers have locks only where the connection is secure, and refuse them where they store nothing.
      return 'locks' in navigator ? await navigator.locks.request(name, put).catch(put) : put()
    },
    forget(meant) {
      const kept = read()
      if (kept === null || !meant(kept)) return
      storeText(name, null)
    },
  }
}

const VERSION = 1

/** Survives a reload. If storage is disabled, this tab's own history entry does too. Null deletes it. */
export function storeText(name: string, text: string | null): void {
  if (remember(name, text) && text !== null) return
  history.replaceState({ ...(history.state as object | null), [name]: text }, '')
}

export function storedText(name: string): string | null {
  const text = remembered(name) ?? (history.state as Record<string, unknown> | null)?.[name]
  return typeof text === 'string' ? text : null
}

function fromText(text: string | null): object | null {
  if (text === null) return null
  try {
    const kept: unknown = JSON.parse(text)
    return isRecord(kept) && kept['version'] === VERSION && isRecord(kept['paymentPayload'] ?? kept['call'])
      ? kept
      : null
  } catch {
    return null
  }
}

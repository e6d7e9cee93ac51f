import type { PaymentPayload } from '../pay/authorization.ts'
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
}

export interface Keeper {
  read(): SavedPayment | null
  write(kept: SavedPayment): void
  /** Only the matching one: another tab may have stored a different payment meanwhile. */
  forget(meant: (kept: SavedPayment) => boolean): void
}

/** One per checkout or order, shared by all tabs of this browser. */
export function openKeeper(of: string): Keeper {
  const name = `coinslot:${of}`
  const read = (): SavedPayment | null => fromText(remembered(name)) ?? fromText(entryText(name))
  return {
    read,
    write(kept) {
      const text = JSON.stringify({ version: VERSION, ...kept })
      // If storage is disabled, this tab's own history entry survives a reload too.
      if (!remember(name, text)) history.replaceState({ ...(history.state as object | null), [name]: text }, '')
    },
    forget(meant) {
      const kept = read()
      if (kept === null || !meant(kept)) return
      remember(name, null)
      history.replaceState({ ...(history.state as object | null), [name]: undefined }, '')
    },
  }
}

const VERSION = 1

/** From this tab's history entry. */
function entryText(name: string): string | null {
  const text = (history.state as Record<string, unknown> | null)?.[name]
  return typeof text === 'string' ? text : null
}

function fromText(text: string | null): SavedPayment | null {
  if (text === null) return null
  try {
    const kept: unknown = JSON.parse(text)
    if (!isRecord(kept) || kept['version'] !== VERSION || !isRecord(kept['paymentPayload'])) return null
    return kept as unknown as SavedPayment
  } catch {
    return null
  }
}

import { remember, remembered } from '../../../ui-kit/watched.ts'
import { toJson } from '../parts/texts.ts'
import { environment } from '../settings.ts'
import { accountHeaders } from './session.ts'

/**
 * The idempotency keys of actions that no answer came to. The same action of the same account has the same key until there
 * is an answer, positive or negative: also after its dialog was closed, or the page was loaded again.
 */
export async function keyOf(path: string, input: unknown): Promise<{ key: string; settled: () => void }> {
  const wanted = toJson([environment(), accountHeaders(), path, input])
  // An input may hold a secret, which has no place in the browser's storage.
  const name = hex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(wanted)))
  const kept = read()
  const { key } = (kept[name] ??= { key: crypto.randomUUID(), at: Date.now() })
  write(kept)
  const settled = (): void => {
    write(Object.fromEntries(Object.entries(read()).filter(([other]) => other !== name)))
  }
  return { key, settled }
}

type ActionKeys = Record<string, { key: string; at: number }>

/** Where the browser stores nothing. */
let inMemory: ActionKeys | null = null

function read(): ActionKeys {
  const text = remembered(NAME, () => sessionStorage)
  const all = inMemory ?? stored(text)
  return Object.fromEntries(Object.entries(all).filter(([, { at }]) => Date.now() - at < KEPT_MS))
}

function stored(text: string | null): ActionKeys {
  try {
    return JSON.parse(text ?? '{}') as ActionKeys
  } catch {
    return {}
  }
}

function write(kept: ActionKeys): void {
  const isStored = remember(NAME, JSON.stringify(kept), () => sessionStorage)
  inMemory = isStored ? null : kept
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const NAME = 'coinslot.unanswered'
/** As long as a person tries again. Who does the same later means another one, having seen what became of the first. */
const KEPT_MS = 900_000

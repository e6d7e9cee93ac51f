/** The object that a wallet puts into the page (EIP-1193). All its answers come from outside and must be checked. */
export interface Provider {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>
  on?(event: string, listener: (told: unknown) => void): unknown
  removeListener?(event: string, listener: (told: unknown) => void): unknown
}

export interface Wallet {
  id: string
  name: string
  /** A `data:` address, otherwise null: the page loads nothing from other servers. */
  icon: string | null
  provider: Provider
}

export type Hex = `0x${string}`

/** Wallets wrap the real error in one or two errors of their own. */
export function codeOf(error: unknown): number | null {
  for (let at = error, depth = 0; isRecord(at) && depth < 4; depth++) {
    if (typeof at['code'] === 'number' && KNOWN.has(at['code'])) return at['code']
    const data = isRecord(at['data']) ? at['data'] : undefined
    at = data?.['originalError'] ?? data ?? at['cause']
  }
  return null
}

export function isRejected(error: unknown): boolean {
  return codeOf(error) === REJECTED
}

const REJECTED = 4001
export const UNKNOWN_CHAIN = 4902
/** The wallet's window is already open. */
export const PENDING = -32002
const KNOWN = new Set([REJECTED, UNKNOWN_CHAIN, PENDING])

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

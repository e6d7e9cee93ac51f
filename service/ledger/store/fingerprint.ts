import { createHash } from 'node:crypto'

/** What a command says, in 32 bytes: the same id with another fingerprint is another command. */
export function fingerprint(...parts: readonly (string | bigint | boolean | null)[]): Buffer {
  const text = JSON.stringify(parts, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
  return createHash('sha256').update(text).digest()
}

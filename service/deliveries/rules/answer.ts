/** The shortest wait that makes sense is the default one; the longest is what a workflow may take. */
export const WAIT_MS = 15_000
export const WAIT_MS_MAX = 180_000
export const KEEP_BYTES = 2_048
export const KEEP_BYTES_MAX = 65_536

/**
 * What was received as text of at most so many bytes: cut between characters, with what is no UTF-8 replaced, and
 * without the one character that PostgreSQL's text cannot hold.
 */
export function toKept(received: Buffer, bytes: number): string {
  const text = new TextDecoder('utf-8').decode(received.subarray(0, cut(received, bytes)))
  return text.replaceAll('\u0000', '\ufffd')
}

/** Not inside of a character: a continuation byte belongs to the one before it. */
function cut(received: Buffer, bytes: number): number {
  if (received.length <= bytes) return received.length
  let end = bytes
  while (end > 0 && end > bytes - 4 && isContinuation(received[end])) end--
  return end
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

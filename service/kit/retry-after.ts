/**
 * How long a server wants no further request (`Retry-After`, RFC 9110, 10.2.3: seconds, or a date in one of the three forms
 * of HTTP), in milliseconds from now. Null where it says neither. A server may say any number, so the longest wait is the
 * reader's.
 */
export function retryAfterMs(header: string | null | undefined, { now, maxMs }: RetryAfterLimits): number | null {
  const text = header?.trim() ?? ''
  if (text.length > TEXT_MAX) return null
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, maxMs)
  if (!HTTP_DATE.test(text)) return null
  // The oldest form names no zone, and all of them are in GMT.
  const at = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? null : Math.min(Math.max(at - now, 0), maxMs)
}

interface RetryAfterLimits {
  /** In milliseconds since 1970. */
  now: number
  maxMs: number
}

const TEXT_MAX = 40
const TIME = String.raw`\d\d:\d\d:\d\d`
const HTTP_DATE = new RegExp(
  [
    String.raw`^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} ${TIME} GMT$`,
    String.raw`^[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d ${TIME} GMT$`,
    String.raw`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d ${TIME} \d{4}$`,
  ].join('|'),
)

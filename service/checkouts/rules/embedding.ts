import { invalid } from '../../kit/errors.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Checkout, Terms } from '../model.ts'

/**
 * A scheme, a host and perhaps a port, in the one spelling that browsers send. It is written into a header, where a
 * star would stand for many sites, and a comma or a semicolon would begin another rule; a URL's host may have all three.
 */
export function isOrigin(text: string): boolean {
  if (!/^https?:\/\/[\w.-]+(:\d+)?$/.test(text) || !URL.canParse(text) || new URL(text).origin !== text) return false
  return text.startsWith('https://') || isLocal(text)
}

/** A page that is tried out on the seller's own computer has no certificate. */
export function assertEmbedOrigins(origins: readonly string[], environment: Environment): void {
  if (environment === 'sandbox' || !origins.some(isLocal)) return
  throw invalid({ embedOrigins: 'must use https: http://localhost works in the sandbox only' })
}

function isLocal(origin: string): boolean {
  return /^http:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/.test(origin)
}

/** A node that registers its checkout again knows nothing of sites: those that its owner allowed stay allowed. */
export function stillAllowed(before: Checkout, terms: Terms): readonly string[] {
  return terms.embedOrigins.length === 0 ? before.embedOrigins : terms.embedOrigins
}

/** The site whose page may show the checkout in a frame; null where it must not. */
export function embedderOf({ embedOrigins }: Pick<Terms, 'embedOrigins'>, origin: string): string | null {
  return embedOrigins.includes(origin) ? origin : null
}

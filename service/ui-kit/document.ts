/*
 * Shared by the documents of the dashboard and of the pages. Their servers use it, so nothing here may need a browser.
 */

/** The logo, embedded in the page. */
export const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect x='2' y='2' width='20' height='20' rx='6' fill='%232b50e2'/%3E%3Cpath d='M8.5 16.5 15.5 7.5' stroke='%23fff' stroke-width='2.6' stroke-linecap='round'/%3E%3C/svg%3E"

/**
 * A page sends requests only to its own service, and no other page may frame it, except a site that its owner has
 * allowed: a person who signs here must see all of it. A wallet's icon and a QR code are `data:` addresses. With a nonce, elements that carry it run too. `connects`
 * names other origins of the same service.
 */
export function contentPolicy(
  nonce?: string,
  connects: readonly string[] = [],
  framedBy = "'none'",
  style = '',
): string {
  const own = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`
  return [
    "default-src 'none'",
    `script-src ${own}`,
    // The hash of a style that stands in the page itself.
    `style-src ${own}${style === '' ? '' : ` '${style}'`}`,
    ["connect-src 'self'", ...connects].join(' '),
    "img-src 'self' data:",
    // The script sends forms; if it does not run, no entered value may end up in an address.
    "form-action 'none'",
    "base-uri 'none'",
    `frame-ancestors ${framedBy}`,
  ].join('; ')
}

/** JSON for a script element; no text in it, such as a product's name, can end that element. */
export function embedded(data: unknown): string {
  return JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

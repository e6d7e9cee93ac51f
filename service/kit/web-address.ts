/** People type `example.com` and mean the site. What names a scheme of its own is left as it is. */
export function withScheme(text: string): string {
  return BARE_HOST.test(text) ? `https://${text}` : text
}

/**
 * A host of two names at least, whose last begins with a letter, since 1.5 is a number; then nothing, a port, a path, a
 * query or a fragment.
 */
const BARE_HOST =
  /^[\p{L}\p{N}][\p{L}\p{N}-]{0,62}(?:\.[\p{L}\p{N}-]{1,63}){0,9}\.\p{L}[\p{L}\p{N}-]{0,62}(?::\d{1,5})?(?:[/?#]\S*)?$/u

/**
 * Why a text may not stand in a path, or null. Between here and the tool's server there may be proxies that decode once
 * more than they should: whatever is read after any number of decodings must stay within the operation's own address.
 */
export function pathFault(text: string): string | null {
  let read = text
  for (let layer = 0; layer < LAYERS_MAX; layer++) {
    if (/[\0\\]/.test(read)) return 'must not contain a backslash or a NUL character'
    if (slashesOf(read) > slashesOf(text)) return 'must not contain an encoded slash'
    if (read.split('/').some((segment) => isDots(segment))) return 'must not contain "." or ".." as a path segment'
    const decoded = decodedOnce(read)
    if (decoded === read) return null
    read = decoded
  }
  return 'is encoded too many times'
}

function slashesOf(text: string): number {
  return text.split('/').length
}

const LAYERS_MAX = 6

/** Some servers drop what follows a semicolon before they resolve the path. */
function isDots(segment: string): boolean {
  const name = segment.split(';')[0]?.trim()
  return name === '.' || name === '..'
}

/** Also what no standard allows and old servers read: `%u002e`, and dots and slashes in too many bytes of UTF-8. */
function decodedOnce(text: string): string {
  return text
    .replaceAll(/%u00([0-9a-f]{2})/gi, (_, hex: string) => character(hex))
    .replaceAll(/%(?:c0%|e0%80%)([89ab][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16) & 0x3f))
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => character(hex))
}

function character(hex: string): string {
  return String.fromCharCode(parseInt(hex, 16))
}

import { fileEmpty, fileTooLarge, fileUsed, notAPicture } from './errors.ts'
import { ONE_LINE } from '../kit/text.ts'
import type { FileLimits, Purpose, RoomLimits, StoredFile, Upload, Use } from './model.ts'

/** What a picture's first bytes say. */
export interface Picture {
  mediaType: 'image/png' | 'image/jpeg' | 'image/webp'
  width: number
  height: number
}

/** Checked before anything is read. */
export function assertSize({ bytes }: Pick<Upload, 'bytes'>, purpose: Purpose, { bytesMax }: FileLimits): void {
  const most = Math.min(MOST[purpose], bytesMax)
  if (bytes <= 0) throw fileEmpty()
  if (bytes > most) throw fileTooLarge(most)
}

/** A page loads a picture before a buyer can read, often on a phone. What strangers send is no larger than a workflow reads at once. */
const MOST: Readonly<Record<Purpose, number>> = {
  sale: Infinity,
  answer: Infinity,
  picture: 2_097_152,
  input: 10_000_000,
}

/** Of a file that a customer uploads. */
export function customerBytesMax({ bytesMax }: Pick<FileLimits, 'bytesMax'>): number {
  return Math.min(MOST.input, bytesMax)
}

/**
 * Whether an account's customers may upload so many bytes more. Everyone can upload, so what waits for a sale fills half of
 * the room at most, and a tenth for each checkout: the rest is for what was sold.
 */
export function hasCustomerRoom(
  stored: readonly { waits: boolean; here: boolean; bytes: number; files: number }[],
  bytes: number,
  limits: RoomLimits,
): boolean {
  const fits = (counted: typeof stored, share: number): boolean => {
    const files = counted.reduce((sum, one) => sum + one.files, 0)
    const sum = counted.reduce((sum, one) => sum + one.bytes, 0)
    return files + 1 <= limits.filesMax * share && sum + bytes <= limits.bytesMax * share
  }
  const waiting = stored.filter(({ waits }) => waits)
  return (
    fits(stored, 1) &&
    fits(waiting, 0.5) &&
    fits(
      waiting.filter(({ here }) => here),
      0.1,
    )
  )
}

/** A file's name as one line without a folder: what a customer's browser sends is not refused for its name. */
export function cleanName(name: string): string {
  const base = name.split(/[/\\]/).at(-1) ?? ''
  const signs = Array.from(base).filter((sign) => ONE_LINE.test(sign) && !/\p{Surrogate}/u.test(sign))
  const whole = signs.join('').trim()
  if (/^\.*$/.test(whole)) return 'file'
  if (signs.length <= NAME_MAX) return whole
  // The end says what kind of file it is.
  const [ending = ''] = /\.[A-Za-z0-9]{1,10}$/.exec(whole) ?? []
  return `${signs
    .slice(0, NAME_MAX - ending.length)
    .join('')
    .trim()}${ending}`
}

/** So that a link with the name, encoded, is a valid value of a field. */
const NAME_MAX = 100
/** A browser needs four bytes of memory for each pixel. */
const PIXELS_MAX = 16_777_216
const SIDE_MAX = 8_192
/** The sizes of a picture are within its first bytes, unless a camera wrote much in front of them. */
export const HEAD_BYTES = 131_072

/** The type and size of the file by its first bytes. What a sender calls a picture and is none is only bytes. */
export function typeOf(
  head: Buffer,
  { declared, purpose }: { declared: string | null; purpose: Purpose },
): Pick<StoredFile, 'mediaType' | 'width' | 'height'> {
  const picture = pictureOf(head)
  if (purpose === 'picture') {
    if (picture === null) throw notAPicture('This is no picture that can be shown.')
    const { width, height } = picture
    if (Math.max(width, height) > SIDE_MAX || width * height > PIXELS_MAX) {
      throw notAPicture(`The picture has too many pixels: ${String(width)} × ${String(height)}.`)
    }
  }
  if (picture !== null) return picture
  const named = declared?.split(';')[0]?.trim().toLowerCase() ?? ''
  const isHarmless = MEDIA_TYPE.test(named) && !RUNS.test(named)
  return { mediaType: isHarmless ? named : 'application/octet-stream', width: null, height: null }
}

const MEDIA_TYPE = /^[a-z]{1,20}\/[a-z0-9][a-z0-9.+-]{0,70}$/
/** Types that a browser would render or run, and pictures whose bytes are none. */
const RUNS = /^image\/|html|xml|svg|script|multipart|x-mixed|\/pdf-?js/

function pictureOf(head: Buffer): Picture | null {
  const found = png(head) ?? webp(head) ?? jpeg(head)
  return found !== null && found.width > 0 && found.height > 0 ? found : null
}

function png(head: Buffer): Picture | null {
  if (head.length < 24 || !head.subarray(0, 8).equals(PNG) || head.toString('latin1', 12, 16) !== 'IHDR') return null
  return { mediaType: 'image/png', width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function webp(head: Buffer): Picture | null {
  if (head.length < 30 || head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WEBP') {
    return null
  }
  const mediaType = 'image/webp'
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { mediaType, width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = head.readUInt32LE(21)
      return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { mediaType, width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
    default:
      return null
  }
}

/** Goes from segment to segment until the one with the size. */
function jpeg(head: Buffer): Picture | null {
  if (head.length < 4 || head.readUInt16BE(0) !== 0xffd8) return null
  let at = 2
  while (at + 9 <= head.length && head[at] === 0xff) {
    const marker = head[at + 1] ?? 0
    // Fill bytes may stand in front of a marker.
    if (marker === 0xff) at += 1
    else if (isFrame(marker)) {
      return { mediaType: 'image/jpeg', width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) }
    } else at += 2 + Math.max(2, head.readUInt16BE(at + 2))
  }
  return null
}

/** SOF0 to SOF15 without the tables that share their range. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

/** Nobody loses a file that is shown today; what was sold goes only where its seller insists. */
export function assertDeletable(uses: readonly Use[], { soldToo }: { soldToo: boolean }): void {
  const holding = uses.filter(({ current, sold }) => current || (sold && !soldToo))
  if (holding.length > 0) throw fileUsed(holding)
}

/**
 * The headers with which a stranger's bytes are sent from our address: never shown inside a page of ours, and never
 * taken for another type (RFC 6266, 8187).
 */
export function downloadHeaders({ name }: Pick<StoredFile, 'name'>): Readonly<Record<string, string>> {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, escaped)
  return {
    ...CONTAINED,
    'Content-Disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`,
    'Cache-Control': 'private, no-store',
  }
}

/** A picture's address names its content, which never changes. */
export const PICTURE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'public, max-age=31536000, immutable',
}

const CONTAINED = { 'Content-Security-Policy': "default-src 'none'; sandbox", 'X-Content-Type-Options': 'nosniff' }

function escaped(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`
}

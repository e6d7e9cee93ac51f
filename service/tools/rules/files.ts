import { invalid } from '../../kit/errors.ts'
import { isRecord } from '../../kit/schema/merge.ts'

/** A file as a tool's server gets it. */
export interface SentFile {
  bytes: Uint8Array
  name: string
  contentType: string
}

/** A file as its caller named it, after the check against the schema. */
export interface NamedFile {
  url?: string
  base64?: string
  name?: string
  contentType?: string
}

/** The bytes in an input. Throws when they are no base64. */
export function bytesIn(field: string, base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64')
  // Node skips what it cannot read; a file with holes must not be sent.
  if (bytes.length !== Math.floor((withoutPadding(base64) * 3) / 4)) throw invalid({ [field]: 'must be base64' })
  return bytes
}

function withoutPadding(base64: string): number {
  const end = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return base64.length - end
}

/** What is known of a file, by what its caller says, then its server, then its address. */
export function fileOf(bytes: Uint8Array, { url, name, contentType }: NamedFile, served: string | null): SentFile {
  const last = url === undefined ? '' : (new URL(url).pathname.split('/').at(-1) ?? '')
  return {
    bytes,
    name: cleanName(name ?? last) || 'file',
    contentType: contentType ?? served?.split(';')[0]?.trim() ?? 'application/octet-stream',
  }
}

/** A name stands in a header of the request, and some servers use it as a path. */
function cleanName(name: string): string {
  return name
    .replaceAll(/[^\p{L}\p{N}. _()-]+/gu, '_')
    .replaceAll(/^\.+/g, '')
    .slice(0, 100)
}

export function isSentFile(value: unknown): value is SentFile {
  return isRecord(value) && value['bytes'] instanceof Uint8Array
}

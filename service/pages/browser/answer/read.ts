import { unwrapped } from '../../../kit/answer.ts'
import { LONGEST } from '../../../ui-kit/format.ts'
import { isMarkdown, toBlocks, type Block } from '../../../ui-kit/markdown.ts'

/** How a workflow's answer is displayed. None of it is ever inserted as HTML. */
export type View =
  | { kind: 'text'; text: string }
  | { kind: 'markdown'; blocks: readonly Block[] }
  | { kind: 'table'; head: readonly string[]; rows: readonly (readonly string[])[] }
  | { kind: 'files'; files: readonly AnswerFile[] }
  /** Named parts, at least one of which is more than plain text or JSON. */
  | { kind: 'parts'; parts: readonly { name: string; view: View }[] }
  | { kind: 'json'; text: string }

export interface AnswerFile {
  name: string
  type: string
  sizeBytes: number
  /** For download: the generic type keeps the browser from opening it. */
  href: string
  /** For display; null if it is not an image. */
  picture: string | null
}

export function viewOf(answer: string): View {
  if (answer.length > LONGEST) return { kind: 'text', text: answer }
  try {
    return viewOfValue(unwrapped(JSON.parse(answer)), 0)
  } catch {
    return viewOfText(answer)
  }
}

function viewOfValue(value: unknown, depth: number): View {
  if (typeof value === 'string') return viewOfText(value)
  const file = fileOf(value)
  if (file !== null) return { kind: 'files', files: [file] }
  return (
    (Array.isArray(value) ? (filesIn(value) ?? tableOf(value)) : null) ??
    (isRecord(value) && depth === 0 ? partsOf(value) : null) ?? { kind: 'json', text: JSON.stringify(value, null, 2) }
  )
}

function viewOfText(text: string): View {
  const file = fileAt(text.trim(), null)
  if (file !== null) return { kind: 'files', files: [file] }
  const isFormatted = isMarkdown(text) || /https?:\/\/|!\[/.test(text)
  return isFormatted ? { kind: 'markdown', blocks: toBlocks(text) } : { kind: 'text', text }
}

function filesIn(list: readonly unknown[]): View | null {
  if (list.length > PARTS_MAX) return null
  const files = list.map(fileOf).filter((file) => file !== null)
  return files.length > 0 && files.length === list.length ? { kind: 'files', files } : null
}

/** A list of objects whose values are not nested. */
function tableOf(list: readonly unknown[]): View | null {
  if (list.length === 0 || list.length > ROWS_MAX) return null
  const head = new Set<string>()
  for (const row of list) {
    if (!isRecord(row) || !Object.values(row).every(isPlain)) return null
    for (const name of Object.keys(row)) head.add(name)
    if (head.size > COLUMNS_MAX) return null
  }
  if (head.size === 0) return null
  const columns = [...head]
  const rows = (list as Readonly<Record<string, unknown>>[]).map((row) =>
    columns.map((name) => cellOf(Object.hasOwn(row, name) ? row[name] : null)),
  )
  return { kind: 'table', head: columns, rows }
}

/** An object that contains a file, an image, a table or formatted text: each part is shown under its name. */
function partsOf(value: Readonly<Record<string, unknown>>): View | null {
  const entries = Object.entries(value)
  if (entries.length > PARTS_MAX) return null
  const parts = entries.map(([name, inner]) => ({ name, view: viewOfValue(isPlain(inner) ? cellOf(inner) : inner, 1) }))
  return parts.some(({ view }) => view.kind !== 'text' && view.kind !== 'json') ? { kind: 'parts', parts } : null
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== 'object'
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `{fileName, contentType, base64}` or n8n's own binary data, or a text that is a `data:` URL. */
function fileOf(value: unknown): AnswerFile | null {
  if (typeof value === 'string') return fileAt(value.trim(), null)
  if (!isRecord(value)) return null
  const name = value['fileName']
  const type = value['contentType'] ?? value['mimeType']
  const base64 = value['base64'] ?? value['data']
  if (typeof name !== 'string' || typeof base64 !== 'string') return null
  const address = base64.startsWith('data:') ? base64 : `data:${typeof type === 'string' ? type : ''};base64,${base64}`
  return fileAt(address, name)
}

function fileAt(address: string, name: string | null): AnswerFile | null {
  if (!address.startsWith('data:')) return null
  const comma = address.indexOf(',')
  const [type = '', ...options] = address.slice('data:'.length, comma).toLowerCase().split(';')
  const base64 = address.slice(comma + 1).replace(/\s/g, '')
  if (comma < 0 || options.at(-1) !== 'base64' || base64 === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null
  const known = type.length <= 100 && /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(type) ? type : UNKNOWN
  return {
    name: plainName(name) ?? `answer.${ENDINGS[known] ?? 'bin'}`,
    type: known,
    sizeBytes: Math.floor((base64.replace(/={1,2}$/, '').length * 3) / 4),
    href: `data:${UNKNOWN};base64,${base64}`,
    picture: PICTURES.has(known) ? `data:${known};base64,${base64}` : null,
  }
}

/** Removes folders and characters that reverse the text or break its line: the displayed name is the saved name. */
function plainName(name: string | null): string | null {
  // oxlint-disable-next-line no-control-regex -- control characters are what is taken out
  const plain = (name ?? '').replace(/[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
  const last = plain.split(/[\\/]/).at(-1)?.trim().slice(0, 150) ?? ''
  return last === '' || /^\.+$/.test(last) ? null : last
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const ROWS_MAX = 500
const COLUMNS_MAX = 20
const PARTS_MAX = 20
const UNKNOWN = 'application/octet-stream'
/** Only bitmaps: an SVG may contain scripts. */
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'application/zip': 'zip',
  'text/csv': 'csv',
  'text/plain': 'txt',
}

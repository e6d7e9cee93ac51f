/**
 * Parses the part of Markdown that models write into data; the author's text never becomes markup. Unknown syntax stays
 * as it was written, HTML too. The work is linear in the text's length: a text of stars alone takes no longer than any
 * other.
 */
export function toBlocks(text: string, depth = 0): readonly Block[] {
  const lines = text.replace(/\r\n?/g, '\n').split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length;) {
    const read = readAt(lines, at, depth)
    if (read !== null) blocks.push(read.block)
    at = read?.next ?? at + 1
  }
  return blocks
}

export type Block =
  | { kind: 'heading'; level: number; text: Inline }
  | { kind: 'code'; text: string }
  | { kind: 'rule' }
  | { kind: 'quote'; blocks: readonly Block[] }
  | { kind: 'list'; from: number | null; items: readonly (readonly Block[])[] }
  | { kind: 'table'; head: readonly Inline[]; rows: readonly (readonly Inline[])[] }
  | { kind: 'paragraph'; text: Inline }

export type Inline = readonly Span[]
export type Span =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'emphasis' | 'struck'; inside: Inline }
  | { kind: 'link'; to: string; inside: Inline }
  /** A `data:` address in one of the formats that hold only pixels. */
  | { kind: 'image'; data: string; alt: string }

/** Whether the text has formatting that plain text would not show. */
export function isMarkdown(text: string): boolean {
  return /^(#{1,6} \S|[-*+] \S|\d{1,3}[.)] \S|```|> |\|.+\|)|\*\*[^*\s][^*\n]*\*\*|\[[^[\]\n]{0,300}\]\((?:https?:|data:image)/m.test(
    text,
  )
}

type Reader = (lines: readonly string[], at: number, depth: number) => { block: Block; next: number } | null

const fence: Reader = (lines, at) => {
  const mark = /^ {0,3}(`{3,}|~{3,})/.exec(lines[at] ?? '')?.[1]
  if (mark === undefined) return null
  let end = at + 1
  // A code block that is never closed continues to the end.
  while (end < lines.length && !(lines[end] ?? '').trim().startsWith(mark)) end++
  return { block: { kind: 'code', text: lines.slice(at + 1, end).join('\n') }, next: end + 1 }
}

const heading: Reader = (lines, at) => {
  const line = lines[at] ?? ''
  const level = /^(#{1,6}) /.exec(line)?.[1]?.length
  if (level === undefined) return null
  const text = line.slice(level).trim()
  // Some authors also close a heading with hashes. Counted by hand, because a regular expression would try each space
  // of a long row again.
  let end = text.length
  while (text[end - 1] === '#') end--
  const closed = end < text.length && (end === 0 || text[end - 1] === ' ')
  return { block: { kind: 'heading', level, text: toInline(closed ? text.slice(0, end).trim() : text) }, next: at + 1 }
}

const rule: Reader = (lines, at) =>
  /^ {0,3}([-*_])(?: *\1){2,} *$/.test(lines[at] ?? '') ? { block: { kind: 'rule' }, next: at + 1 } : null

const quote: Reader = (lines, at, depth) => {
  let end = at
  while (/^ {0,3}>/.test(lines[end] ?? '')) end++
  if (end === at) return null
  const inside = lines.slice(at, end).map((line) => line.replace(/^ {0,3}> ?/, ''))
  return { block: { kind: 'quote', blocks: toBlocks(inside.join('\n'), depth + 1) }, next: end }
}

const ITEM = /^( {0,3})(?:[-*+]|(\d{1,9})[.)])( +)/

const list: Reader = (lines, at, depth) => {
  const first = ITEM.exec(lines[at] ?? '')
  if (first === null) return null
  const isNumbered = first[2] !== undefined
  const items: string[][] = []
  let next = at
  for (; next < lines.length; next++) {
    const line = lines[next] ?? ''
    const item = ITEM.exec(line)
    if (item !== null && (item[2] !== undefined) === isNumbered) items.push([line.slice(item[0].length)])
    else if (/^(?: {2,}|\t)/.test(line)) items.at(-1)?.push(line.replace(/^(?: {2,4}|\t)/, ''))
    // An empty line belongs to the list if the list continues after it.
    else if (line.trim() === '' && isItemOrInside(lines[next + 1])) items.at(-1)?.push('')
    else break
  }
  const blocks = items.map((item) => toBlocks(item.join('\n'), depth + 1))
  return { block: { kind: 'list', from: isNumbered ? Number(first[2]) : null, items: blocks }, next }
}

function isItemOrInside(line = ''): boolean {
  return line.trim() !== '' && (ITEM.test(line) || /^(?: {2,}|\t)/.test(line))
}

const table: Reader = (lines, at) => {
  const head = cellsOf(lines[at] ?? '')
  if (head === null || head.length > COLUMNS_MAX) return null
  if (cellsOf(lines[at + 1] ?? '')?.every((cell) => /^:?-+:?$/.test(cell)) !== true) return null
  const rows: Inline[][] = []
  let next = at + 2
  for (; next < lines.length; next++) {
    const cells = cellsOf(lines[next] ?? '')
    if (cells === null) break
    // Rows are not padded to the width of the head: many short rows below a wide head would grow far beyond their text.
    rows.push(cells.slice(0, head.length).map(toInline))
  }
  return { block: { kind: 'table', head: head.map(toInline), rows }, next }
}

const COLUMNS_MAX = 100

function cellsOf(line: string): string[] | null {
  if (!line.includes('|')) return null
  const bare = line.trim().replace(/^\|/, '').replace(/\|$/, '')
  return bare.split('|').map((cell) => cell.trim())
}

const paragraph: Reader = (lines, at) => {
  let end = at
  while (end < lines.length && (lines[end] ?? '').trim() !== '' && (end === at || !begins(lines, end))) end++
  return end === at
    ? null
    : { block: { kind: 'paragraph', text: toInline(lines.slice(at, end).join('\n')) }, next: end }
}

/** True when a line starts another block, which ends a paragraph even without an empty line. */
function begins(lines: readonly string[], at: number): boolean {
  return /^ {0,3}(?:#{1,6} |`{3,}|~{3,}|>|[-*+] |\d{1,9}[.)] )/.test(lines[at] ?? '')
}

const READERS: readonly Reader[] = [fence, heading, rule, quote, list, table, paragraph]
/** Deeper nesting is shown as plain text. */
const DEEPEST = 6

function readAt(lines: readonly string[], at: number, depth: number): ReturnType<Reader> {
  for (const reader of depth < DEEPEST ? READERS : [paragraph]) {
    const read = reader(lines, at, depth)
    if (read !== null) return read
  }
  return null
}

/**
 * The first mark with a matching end opens a span; the part before it is text. A picture is shown only if its data is
 * in the text. A picture at an address becomes a link, because loading it would show a third party who reads this.
 */
export function toInline(text: string): Inline {
  const spans: Span[] = []
  let rest = text
  while (rest !== '') {
    const found = MARKS.exec(rest)
    if (found === null) {
      spans.push({ kind: 'text', text: rest })
      break
    }
    if (found.index > 0) spans.push({ kind: 'text', text: rest.slice(0, found.index) })
    spans.push(toSpan(found.groups ?? {}))
    rest = rest.slice(found.index + found[0].length)
  }
  return spans
}

// Every part ends at a character that it cannot contain, so that no text is tried in more than one way.
const MARKS = new RegExp(
  [
    /\\(?<escaped>[\\`*_{}[\]()#+.!|~<>-])/,
    /`(?<code>[^`\n]+)`/,
    /!\[(?<alt>[^[\]\n]{0,300})\]\((?<data>data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]{1,100000})\)/,
    /!\[(?<image>[^[\]\n]{0,300})\]\((?<source>[^()\s]{0,2000})\)/,
    /\[(?<link>[^[\]\n]{1,300})\]\((?<to>https?:\/\/[^)\s]{1,2000}|mailto:[^)\s]{1,300})\)/,
    /(?<bare>https?:\/\/[^\s<>()[\]"'`]+[^\s<>()[\]"'`.,;:!?])/,
    /\*\*(?<strong>(?![\s*])(?:[^*]|\*[^*\s][^*\n]*\*)+)\*\*/,
    /\b__(?<heavy>[^_\s][^_]*)__\b/,
    /\*(?<emphasis>[^*\s][^*\n]*)\*/,
    /\b_(?<slanted>[^_\s][^_\n]*)_\b/,
    /~~(?<struck>[^~\s][^~\n]*)~~/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

function toSpan(found: Readonly<Record<string, string | undefined>>): Span {
  const { escaped, code, alt, data, image, source = '', link, to, bare } = found
  const { strong, heavy, emphasis, slanted, struck } = found
  if (escaped !== undefined) return { kind: 'text', text: escaped }
  if (code !== undefined) return { kind: 'code', text: code }
  if (data !== undefined) return { kind: 'image', data, alt: alt ?? '' }
  if (image !== undefined) {
    const label = { kind: 'text', text: image === '' ? 'Image' : `Image: ${image}` } as const
    return source.startsWith('https://') ? { kind: 'link', to: source, inside: [label] } : label
  }
  if (link !== undefined && to !== undefined) return { kind: 'link', to, inside: toInline(link) }
  if (bare !== undefined) return { kind: 'link', to: bare, inside: [{ kind: 'text', text: bare }] }
  const heavyText = strong ?? heavy
  if (heavyText !== undefined) return { kind: 'strong', inside: toInline(heavyText) }
  const slantedText = emphasis ?? slanted
  if (slantedText !== undefined) return { kind: 'emphasis', inside: toInline(slantedText) }
  return { kind: 'struck', inside: toInline(struck ?? '') }
}

import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Threads from 'node:worker_threads'
import { Worker } from 'node:worker_threads'
import type PDFDocument from 'pdfkit'
import type { Cell, Paper } from './model.ts'

export interface Job {
  paper: Paper
}

export interface Result {
  bytes: Uint8Array
  fault: string | null
}

/** Its program is a text, so that it starts alike from sources, from the build and in tests. */
export function startThread(): Worker {
  const require = createRequire(import.meta.url)
  const program = [setForever, setPaper, linesOf, runsOf, openFonts, openFont].map(String).join('\n')
  return new Worker(`${program}\n${setForever.name}(require)`, {
    eval: true,
    workerData: {
      pdfkit: pathToFileURL(require.resolve('pdfkit')).href,
      fontkit: pathToFileURL(require.resolve('fontkit')).href,
      files: fontFiles(require),
    },
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  })
}

/** In the order in which a letter is looked for. Chinese has no bold here, and Japanese takes its letters. */
function fontFiles(require: NodeJS.Require): Setting['files'] {
  const noto = (part: string, weight: number): string =>
    require.resolve(`@fontsource/noto-sans/files/noto-sans-${part}-${String(weight)}-normal.woff`)
  const hans = path.join(path.dirname(require.resolve('@embedpdf/fonts-sc')), '../fonts/NotoSansHans-Regular.otf')
  const parts = ['latin', 'latin-ext', 'vietnamese', 'cyrillic', 'cyrillic-ext', 'greek', 'greek-ext']
  const of = (weight: number): string[] => [...parts.map((part) => noto(part, weight)), hans]
  return { regular: of(400), bold: of(700) }
}

interface Setting {
  pdfkit: string
  fontkit: string
  files: { regular: readonly string[]; bold: readonly string[] }
}

/* What follows becomes a text: it may use nothing from outside but its parameters and the functions above `startThread`. */

/** The parts of the libraries that are used. */
interface Library {
  fontkit: { openSync(file: string): { hasGlyphForCodePoint(point: number): boolean } }
  Document: new (options: object) => PdfFile
}

type PdfFile = InstanceType<typeof PDFDocument>

interface Fonts {
  /** The font that has this letter. */
  of(letter: string, bold: boolean): string | null
  width(document: PdfFile, letter: string, style: { bold: boolean; size: number }): number
}

interface Run {
  font: string
  text: string
}

async function setForever(require: NodeJS.Require): Promise<void> {
  const threads = require('node:worker_threads') as typeof Threads
  const port = threads.parentPort
  const { pdfkit, fontkit, files } = threads.workerData as Setting
  const kit = (await import(pdfkit)) as { default: Library['Document'] }
  const fonts = (await import(fontkit)) as Partial<Record<'default', Library['fontkit']>> & Library['fontkit']
  const library: Library = { Document: kit.default, fontkit: fonts.default ?? fonts }
  const opened = openFonts(library, files)
  port?.on('message', ({ id, paper }: Job & { id: number }) => {
    setPaper(library, opened, paper).then(
      (bytes) => port.postMessage({ id, bytes, fault: null }),
      (error: unknown) => port.postMessage({ id, bytes: new Uint8Array(), fault: String(error) }),
    )
  })
  port?.postMessage('ready')
}

/** A4, from above to below. */
async function setPaper({ Document }: Library, fonts: Fonts, { title, date, rows }: Paper): Promise<Uint8Array> {
  const [margin, leading] = [56, 1.35]
  const info = {
    Title: title,
    CreationDate: new Date(date),
    ModDate: new Date(date),
    Producer: 'Coinslot',
    Creator: 'Coinslot',
  }
  const document = new Document({ size: 'A4', margin, info, lang: 'en', autoFirstPage: true })
  const chunks: Buffer[] = []
  document.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise((resolve) => document.on('end', resolve))
  const width = document.page.width - 2 * margin
  let y = margin
  for (const { cells, gap, rule } of rows) {
    const set = cells.map((cell) => ({ cell, lines: linesOf(document, fonts, cell, width * cell.width) }))
    const height = Math.max(...set.map(({ cell, lines }) => lines.length * cell.size * leading), 0)
    y += gap
    if (y + height > document.page.height - margin) {
      document.addPage()
      y = margin
    }
    if (rule)
      document
        .moveTo(margin, y - gap / 2)
        .lineTo(margin + width, y - gap / 2)
        .lineWidth(0.5)
        .stroke('#c9cdd6')
    for (const { cell, lines } of set) {
      document.fontSize(cell.size).fillColor(cell.quiet ? '#5b6270' : '#16181d')
      lines.forEach((line, at) => {
        const wide = Array.from(line).reduce((sum, letter) => sum + fonts.width(document, letter, cell), 0)
        let x = margin + width * cell.at + (cell.align === 'right' ? width * cell.width - wide : 0)
        for (const { font, text } of runsOf(fonts, line, cell.bold)) {
          document
            .font(font)
            .fontSize(cell.size)
            .text(text, x, y + at * cell.size * leading + cell.size, { lineBreak: false, baseline: 'alphabetic' })
          x += Array.from(text).reduce((sum, letter) => sum + fonts.width(document, letter, cell), 0)
        }
      })
    }
    y += height
  }
  document.end()
  await ended
  return new Uint8Array(Buffer.concat(chunks))
}

/** Breaks at spaces, between letters of scripts without spaces, and in words that are wider than the line. */
function linesOf(document: PdfFile, fonts: Fonts, cell: Cell, width: number): string[] {
  const lines: string[] = []
  for (const paragraph of cell.text.split('\n')) {
    let [line, wide] = ['', 0]
    for (const word of paragraph.match(
      /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+|\s+/gu,
    ) ?? []) {
      const letters = Array.from(word, (letter) => ({ letter, wide: fonts.width(document, letter, cell) }))
      const length = letters.reduce((sum, each) => sum + each.wide, 0)
      if (wide > 0 && wide + length > width && word.trim() !== '') {
        lines.push(line.trimEnd())
        ;[line, wide] = ['', 0]
      }
      for (const each of letters) {
        if (wide > 0 && wide + each.wide > width && each.letter.trim() !== '') {
          lines.push(line)
          ;[line, wide] = ['', 0]
        }
        line += each.letter
        wide += each.wide
      }
    }
    lines.push(line.trimEnd())
  }
  if (lines.length <= cell.linesMax) return lines
  return [...lines.slice(0, cell.linesMax - 1), `${(lines[cell.linesMax - 1] ?? '').slice(0, -1)}…`]
}

/** The text in pieces of one font each. A letter that no font has is a question mark. */
function runsOf(fonts: Fonts, text: string, bold: boolean): Run[] {
  const runs: Run[] = []
  for (const letter of text) {
    const font = fonts.of(letter, bold)
    const shown = font === null ? '?' : letter
    const at = font ?? fonts.of('?', bold) ?? 'Helvetica'
    const last = runs.at(-1)
    if (last?.font === at) last.text += shown
    else runs.push({ font: at, text: shown })
  }
  return runs
}

/** Each file is opened when a letter needs it. The widths of letters are remembered: their number is bounded. */
function openFonts({ fontkit }: Library, files: Setting['files']): Fonts {
  const has = openFont(fontkit)
  const found = new Map<string, string | null>()
  const widths = new Map<string, number>()
  const of = (letter: string, bold: boolean): string | null => {
    const key = `${bold ? 'b' : 'r'}${letter}`
    const known = found.get(key)
    if (known !== undefined) return known
    const file = (bold ? files.bold : files.regular).find((each) => has(each, letter)) ?? null
    if (found.size >= 50_000) found.clear()
    found.set(key, file)
    return file
  }
  return {
    of,
    width(document, letter, { bold, size }) {
      const font = of(letter, bold)
      const key = `${bold ? 'b' : 'r'}${letter}`
      let width = widths.get(key)
      if (width === undefined) {
        const shown = font === null ? '?' : letter
        width =
          document
            .font(font ?? of('?', bold) ?? 'Helvetica')
            .fontSize(1_000)
            .widthOfString(shown) / 1_000
        if (widths.size >= 50_000) widths.clear()
        widths.set(key, width)
      }
      return width * size
    },
  }
}

function openFont(fontkit: Library['fontkit']): (file: string, letter: string) => boolean {
  const opened = new Map<string, { hasGlyphForCodePoint(point: number): boolean }>()
  return (file, letter) => {
    const font = opened.get(file) ?? fontkit.openSync(file)
    opened.set(file, font)
    return font.hasGlyphForCodePoint(letter.codePointAt(0) ?? 0)
  }
}

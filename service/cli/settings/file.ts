import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { ConfigError } from '../../config.ts'
import { withoutTrailing } from '../../kit/text.ts'

export interface Line {
  name: string
  value: string
  comment: string
}

/** Null when there is no such file. A line without a value is as none: an empty variable counts as unset. */
export function readSettings(file: string): { text: string; values: Record<string, string> } | null {
  try {
    const text = readFileSync(file, 'utf8')
    return { text, values: Object.fromEntries(Object.entries(parseEnv(text)).filter(isSet)) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function isSet(line: [string, string | undefined]): line is [string, string] {
  return line[1] !== undefined && line[1] !== ''
}

/** What an operator types in a shell so that commands there have the settings. */
export function loadingOf(file: string): string {
  return `set -a; . ${file.includes('/') ? file : `./${file}`}; set +a`
}

/** What is in the file, with the lines behind it. Throws where one cannot be written. */
export function withLines(before: string, lines: readonly Line[]): string {
  const added = lines.map(({ name, value, comment }) => {
    const text = `${name}=${quoted(name, value)}`
    return comment === '' ? text : `# ${comment}\n${text}`
  })
  const start =
    before === ''
      ? '# Written by npm run setup. It has keys that move money: keep it secret.\n'
      : `${withoutTrailing(before, '\n')}\n\n`
  return `${start}${added.join('\n')}\n`
}

/** Only its owner can read it, and a reader never sees half of it. */
export function writeSettings(file: string, text: string): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
  chmodSync(draft, 0o600)
  renameSync(draft, file)
}

/** A file of its own for the phrase. Refuses to write over one. */
export function writePhrase(file: string, phrase: string): void {
  try {
    writeFileSync(file, `${phrase}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new ConfigError([`--phrase-file ${file} exists already: name another file. Nothing was written.`])
  }
}

/** A form that shells, Node and compose read alike. */
function quoted(name: string, value: string): string {
  if (/^[\w.:/@%+,=-]*$/.test(value)) return value
  // oxlint-disable-next-line no-control-regex -- these end a line or a value
  if (/['\u0000-\u001f]/.test(value)) {
    throw new ConfigError([`${name} must have no quotation mark ' and no line break. Nothing was written.`])
  }
  return `'${value}'`
}

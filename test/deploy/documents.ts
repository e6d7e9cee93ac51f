import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'

/** Of a YAML file, with anchors and merges followed; refuses what is not clean YAML. */
export function documentsOf(file: string): unknown[] {
  return parseAllDocuments(readFileSync(file, 'utf8'), { merge: true, uniqueKeys: true, strict: true }).map(
    (document) => {
      if ('errors' in document && document.errors.length > 0) throw document.errors[0]!
      return document.toJS() as unknown
    },
  )
}

/** What Compose makes of `${NAME}`, `${NAME:-default}` and `${NAME:?word}`, in all texts. */
export function interpolated(value: unknown, environment: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, name: string, kind?: string, word?: string) => {
      const found = environment[name] ?? ''
      if (found !== '') return found
      if (kind === '?') throw new Error(`${name}: ${String(word)}`)
      return kind === '-' ? (word ?? '') : ''
    })
  }
  if (Array.isArray(value)) return value.map((item) => interpolated(item, environment))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, interpolated(inner, environment)]))
}

/** `NAME=value` lines. */
export function environmentFile(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').split('\n')
  return Object.fromEntries(
    lines
      .filter((line) => /^\w+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

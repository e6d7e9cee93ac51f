import { readFileSync } from 'node:fs'
import path from 'node:path'

/** The examples of a document that are written in this language. */
export function blocksOf(file: string, language: string): string[] {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../docs', file), 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(([, block]) => block ?? '')
}

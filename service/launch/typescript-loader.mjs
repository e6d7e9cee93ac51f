import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform, version } from '@swc/core'

const OPTIONS = {
  jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  module: { type: 'es6' },
  sourceMaps: 'inline',
  swcrc: false,
}
const CACHE = path.resolve(import.meta.dirname, '../../.build/stripped')
const made = mkdir(CACHE, { recursive: true })

/** Only strips the types; `npm run check` verifies them. */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context)
  const source = await readFile(fileURLToPath(url), 'utf8')
  return { format: 'module', source: await stripped(url, source), shortCircuit: true }
}

/**
 * Most of what a process needs to start was stripped for the one before it. Each file is kept once, and says at its end of
 * which text it was made.
 */
async function stripped(url, source) {
  const kept = path.join(CACHE, digestOf(url))
  const mark = `\n// ${digestOf(`${version}\n${source}`)}\n`
  const before = await readFile(kept, 'utf8').catch(() => '')
  if (before.endsWith(mark)) return before
  const { code } = await transform(source, { ...OPTIONS, filename: fileURLToPath(url), sourceFileName: url })
  await made
  const making = `${kept}.${String(process.pid)}`
  await writeFile(making, code + mark)
  await rename(making, kept)
  return code
}

function digestOf(text) {
  return createHash('sha256').update(text).digest('hex')
}

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { root } from './run.mjs'

/** Every file below a folder of the repository, in a fixed order, except in folders with the names in `without`. */
export function filesUnder(folder, without = []) {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const file = `${folder}/${entry.name}`
      if (!entry.isDirectory()) return [file]
      return without.includes(entry.name) ? [] : filesUnder(file, without)
    })
}

export function contentsOf(file) {
  return readFileSync(path.join(root, file), 'utf8')
}

/** A hash of the names and contents of these files. It ignores their dates, because a checkout changes dates. */
export function hashOf(files) {
  return sha256(files.flatMap((file) => [file, readFileSync(path.join(root, file))]))
}

/**
 * These files and all that they reach: every relative address in their code that leads to a file. Imports of types are left
 * out, because nothing of them is built or run.
 */
export function reachedFrom(files) {
  const reached = new Set(files)
  for (const file of reached) {
    if (!CODE.test(file)) continue
    const text = contentsOf(file).replaceAll(TYPES, '')
    for (const [, address] of text.matchAll(ADDRESS)) {
      const target = path.posix.join(path.posix.dirname(file), address)
      if (!reached.has(target) && isFile(target)) reached.add(target)
    }
  }
  return [...reached].sort()
}

const CODE = /\.(ts|tsx|mts|mjs|js|css)$/
const TYPES = /\b(?:import|export) type\b[^'"`;]*\bfrom ['"][^'"\n]*['"]/g
const ADDRESS = /['"`](\.{1,2}\/[^'"`\n?]+)/g

function isFile(file) {
  return statSync(path.join(root, file), { throwIfNoEntry: false })?.isFile() === true
}

export function sha256(texts) {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text.length}:`).update(text)
  return hash.digest('hex')
}

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

/** Compares names, sizes and dates: reading every source file would cost more than the comparison saves. */
export function datesOf(files) {
  return files.map((file) => {
    const { mtimeMs, size } = statSync(path.join(root, file))
    return `${file} ${mtimeMs} ${size}`
  })
}

export function sha256(texts) {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text.length}:`).update(text)
  return hash.digest('hex')
}

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** Writes the compressed forms beside each file of a build: once and at the best level, instead of at each request. */
export function compress(folder) {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.json')) continue
    const content = readFileSync(path.join(folder, name))
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
    writeFileSync(path.join(folder, `${name}.br`), brotliCompressSync(content, quality))
    writeFileSync(path.join(folder, `${name}.gz`), gzipSync(content, { level: 9 }))
  }
}

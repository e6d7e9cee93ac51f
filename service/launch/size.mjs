import { existsSync, readFileSync } from 'node:fs'
import { filesUnder } from './fingerprint.mjs'

/**
 * Checks how large the code is and that it is not split into too many small files: `npm run check` prints the numbers
 * and enforces the limits.
 */
const SMALL_LINES = 30
const SMALL_FILES_MAX = 40
/** What the layout names for each capability, however little it has to say there. */
const NAMED = /^service\/wiring\/|\/trpc\.ts$/
/** Generated code. */
const GENERATED = [
  'service/database/generated/',
  'service/chain/lens/compiled.ts',
  'service/client/api.ts',
  'service/api/reference/outputs.ts',
]

const files = ['service', 'nodes', 'credentials']
  .flatMap((folder) => filesUnder(folder, ['node_modules', 'dist']))
  .filter((file) => /\.tsx?$/.test(file))
  .filter((file) => !GENERATED.some((generated) => file.startsWith(generated)))

let lines = 0
const small = []
for (const file of files) {
  const length = readFileSync(file, 'utf8').split('\n').length - 1
  if (file.startsWith('service/')) lines += length
  if (length < SMALL_LINES && !NAMED.test(file)) small.push(file)
}
// `store.ts` beside `store/` splits one module over two places: the file belongs into the folder.
const doubled = files.filter((file) => existsSync(file.replace(/\.tsx?$/, '')))

process.stdout.write(`${lines} lines of TypeScript in service, ${small.length} files below ${SMALL_LINES} lines\n`)
if (small.length > SMALL_FILES_MAX) {
  process.stdout.write(
    `More than ${SMALL_FILES_MAX} small files. Fold one into its neighbour:\n  ${small.join('\n  ')}\n`,
  )
  process.exitCode = 1
}
if (doubled.length > 0) {
  process.stdout.write(`A file beside a folder of its name. Move it into the folder:\n  ${doubled.join('\n  ')}\n`)
  process.exitCode = 1
}

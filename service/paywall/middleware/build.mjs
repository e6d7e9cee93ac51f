import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build } from 'vite'

/** Builds one file without dependencies and its types, into `dist` or the folder in the argument. */
const here = import.meta.dirname
const target = path.resolve(process.argv[2] ?? path.join(here, 'dist'))
rmSync(target, { recursive: true, force: true })
await build({
  root: here,
  configFile: false,
  logLevel: 'warn',
  ssr: { noExternal: true },
  build: {
    outDir: target,
    emptyOutDir: true,
    ssr: path.join(here, 'index.ts'),
    target: 'node20',
    rolldownOptions: { output: { entryFileNames: 'index.js' } },
  },
})
const tsc = path.resolve(here, '../../../node_modules/typescript/bin/tsc')
const options = ['--declaration', '--emitDeclarationOnly', '--incremental', 'false', '--sourceMap', 'false']
const { status } = spawnSync(
  process.execPath,
  [tsc, '-p', path.join(here, 'tsconfig.json'), ...options, '--outDir', path.join(target, 'types')],
  { stdio: 'inherit' },
)
if (status === 0) removeUnreached(path.join(target, 'types'), 'paywall/middleware/index.d.ts')
process.exitCode = status ?? 1

/** The compiler writes types of every source; most of them, and what they import, no user of the package can reach. */
function removeUnreached(folder, entry) {
  const reached = new Set()
  const waiting = [path.join(folder, entry)]
  for (const file of waiting) {
    if (reached.has(file)) continue
    reached.add(file)
    for (const [, from] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g)) {
      waiting.push(path.resolve(path.dirname(file), from.replace(/\.ts$/, '.d.ts')))
    }
  }
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(folder, name)
    if (name.endsWith('.d.ts') && !reached.has(file)) rmSync(file)
  }
}

import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
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
process.exitCode = status ?? 1

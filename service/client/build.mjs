import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'

/** Builds the modules and their types into `dist`, or into the folder in the argument. */
const here = import.meta.dirname
const target = path.resolve(process.argv[2] ?? path.join(here, 'dist'))
rmSync(target, { recursive: true, force: true })
const tsc = path.resolve(here, '../../node_modules/typescript/bin/tsc')
const { status } = spawnSync(process.execPath, [tsc, '-p', path.join(here, 'tsconfig.json'), '--outDir', target], {
  // npm reads what a script prints to the standard output as its own.
  stdio: ['ignore', 2, 2],
})
process.exitCode = status ?? 1

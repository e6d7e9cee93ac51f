import './node-version.mjs'
import { existsSync } from 'node:fs'

const { filesUnder } = await import('./fingerprint.mjs')
const { prepare } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

await prepare()
// Every file of test/bench is a program; the folders beside them hold shared code.
const programs = filesUnder('test/bench').filter((file) => /^test\/bench\/[^/]+\.ts$/.test(file))
const [name, ...args] = process.argv.slice(2)
// Those that work on what the others measure are in folders of their own: compare, flame.
const named = [`test/bench/${name}.ts`, `test/bench/${name}/${name}.ts`].filter((file) => existsSync(file))
const chosen = name === undefined ? programs : named
if (chosen.length === 0) {
  process.stderr.write(`There is no benchmark ${name ?? ''}; there is: ${programs.join(', ') || 'none'}.\n`)
  process.exitCode = 1
}
for (const file of chosen) {
  const code = await become(['--enable-source-maps', '--import', './service/launch/typescript.mjs', file, ...args])
  process.exitCode ||= code
}

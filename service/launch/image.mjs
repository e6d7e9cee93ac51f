import './node-version.mjs'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'

const { prepare } = await import('./prepare.mjs')
const { npm, root } = await import('./run.mjs')

/**
 * `node service/launch/image.mjs <folder>`: the service as it runs on a server, and nothing else: what was built, what
 * it reads, and its libraries without those that only build. deploy/Containerfile makes the image of this folder.
 */
const CONTENTS = [
  'LICENSE',
  'package.json',
  'package-lock.json',
  '.npmrc',
  'service/package.json',
  'service/paywall/middleware/package.json',
  'service/dist',
  'service/tools/documents',
  'prisma/migrations',
  '.build/pages',
  '.build/dashboard',
]

const [given] = process.argv.slice(2)
if (given === undefined) {
  console.error('Say where to: node service/launch/image.mjs <folder>')
  process.exit(2)
}
const folder = path.resolve(given)
if (existsSync(folder) && readdirSync(folder).length > 0) {
  console.error(`${folder} is not empty.`)
  process.exit(2)
}
await prepare()
for (const name of CONTENTS) {
  const to = path.join(folder, name)
  mkdirSync(path.dirname(to), { recursive: true })
  cpSync(path.join(root, name), to, { recursive: true })
}
// The embedded server is an optional library of 60 MB: a deployment has a database of its own.
await npm(
  [
    ...['ci', '--workspace', 'service', '--omit=dev', '--omit=peer', '--omit=optional'],
    ...['--ignore-scripts', '--no-audit', '--no-fund'],
  ],
  { cwd: folder },
)
// Libraries name the compiler as a peer for their types; nothing that runs loads it.
for (const name of ['typescript', '.bin', '.cache'])
  rmSync(path.join(folder, 'node_modules', name), { recursive: true, force: true })

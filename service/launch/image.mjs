import './node-version.mjs'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'

const { prepare } = await import('./prepare.mjs')
const { npm, root } = await import('./run.mjs')

/**
 * `node service/launch/image.mjs <folder>`: copies only what a server needs to run the service: the build, the files it
 * reads, and its libraries without the build tools. deploy/Containerfile makes the image from this folder.
 */
const CONTENTS = [
  'LICENSE',
  'package.json',
  'package-lock.json',
  '.npmrc',
  'service/package.json',
  'service/paywall/middleware/package.json',
  'service/client/package.json',
  'service/dist',
  'service/tools/documents',
  'prisma/migrations',
  '.build/pages',
  '.build/dashboard',
]

const [given] = process.argv.slice(2)
if (given === undefined) {
  console.error('Usage: node service/launch/image.mjs <folder>')
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
// The embedded database server is an optional library of 60 MB, and a deployment has its own database.
await npm(
  [
    ...['ci', '--workspace', 'service', '--omit=dev', '--omit=peer', '--omit=optional'],
    ...['--ignore-scripts', '--no-audit', '--no-fund'],
  ],
  { cwd: folder },
)
// Libraries list the compiler as a peer for their types; nothing loads it at run time.
for (const name of ['typescript', '.bin', '.cache'])
  rmSync(path.join(folder, 'node_modules', name), { recursive: true, force: true })

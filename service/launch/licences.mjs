import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './run.mjs'

/*
 * The third-party code that is shipped: the service's dependencies with theirs, and the packages bundled into its
 * pages. The check fails for a licence that requires more than attribution. `npm run licences` also writes the licences
 * with their texts to a file, for people who redistribute a build.
 */
const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'Unlicense',
  'CC0-1.0',
  'Python-2.0',
  'PSF-2.0',
  'PostgreSQL',
  'Zlib',
  'OFL-1.1',
])
/**
 * Licences that a package's own package.json does not state, looked up by hand; listed with the version, so that a new
 * version is looked up again.
 */
const KNOWN = Object.fromEntries(
  // The same binary for each platform: the package that loads it states MIT, but only some of the binaries' packages
  // do.
  ['darwin-arm64', 'darwin-x64', 'linux-arm', 'linux-arm64', 'linux-x64', 'win32-x64'].map((platform) => [
    `@msgpackr-extract/msgpackr-extract-${platform}@3.0.7`,
    'MIT',
  ]),
)
KNOWN['png-js@2.0.0'] = 'MIT'

const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
const shipped = [...closure()].sort()
const refused = shipped.filter((at) => !isAllowed(licenceOf(at)))
for (const at of refused) {
  process.stderr.write(`${nameOf(at)} ${packages[at].version}: ${licenceOf(at) ?? 'no licence'} is not on the list.\n`)
}
if (refused.length > 0) process.exitCode = 1

if (process.argv.includes('--write')) {
  const file = path.join(root, '.build', 'THIRD-PARTY-LICENCES.txt')
  mkdirSync(path.dirname(file), { recursive: true })
  const parts = shipped.map((at) => `${nameOf(at)} ${packages[at].version} (${licenceOf(at)})\n\n${textOf(at)}`)
  writeFileSync(file, `${parts.join(`\n${'-'.repeat(80)}\n`)}\n`)
  process.stdout.write(`${String(shipped.length)} packages: ${path.relative(root, file)}\n`)
}
/** The location of each package, from the lock file: nothing needs to be installed. */
function closure() {
  const found = new Set()
  const roots = ['', 'service', 'service/paywall/middleware', 'service/client']
  const waiting = roots.flatMap((from) => namesOf(packages[from]).map((name) => [from, name]))
  // The pages are bundled from these packages; types and the style compiler leave nothing in the bundle.
  for (const name of Object.keys(packages['service']?.devDependencies ?? {}))
    if (!name.startsWith('@types/') && !/tailwind/.test(name)) waiting.push(['service', name])
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const at = resolved(...next)
    if (at === null || found.has(at) || packages[at].link === true) continue
    found.add(at)
    waiting.push(...namesOf(packages[at]).map((name) => [at, name]))
  }
  return found
}

function namesOf(of) {
  return Object.keys({ ...of?.dependencies, ...of?.optionalDependencies })
}

/** Searches as Node does: beside the requiring package, then one folder up, and so on. */
function resolved(from, name) {
  for (let folder = from; ; folder = folder.replace(/(^|\/)(node_modules\/(@[^/]+\/)?)?[^/]+$/, '')) {
    const at = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (packages[at] !== undefined) return at
    if (folder === '') return null
  }
}

function nameOf(at) {
  return at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function licenceOf(at) {
  const known = KNOWN[`${nameOf(at)}@${packages[at].version}`]
  if (known !== undefined) return known
  if (packages[at].license !== undefined) return packages[at].license
  const file = path.join(root, at, 'package.json')
  if (!existsSync(file)) return null
  const { license, licenses } = JSON.parse(readFileSync(file, 'utf8'))
  return typeof license === 'string' ? license : (license?.type ?? licenses?.[0]?.type ?? null)
}

/** `(MIT OR GPL)` needs one allowed licence, `MIT AND Zlib` needs both. */
function isAllowed(licence) {
  if (licence === null) return false
  const plain = licence.replace(/[()]/g, '')
  return plain.split(' OR ').some((choice) => choice.split(' AND ').every((one) => ALLOWED.has(one.trim())))
}

function textOf(at) {
  const folder = path.join(root, at)
  if (!existsSync(folder)) return '(for another platform: not installed here)'
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  return file === undefined ? '(no text in the package)' : readFileSync(path.join(folder, file), 'utf8').trim()
}

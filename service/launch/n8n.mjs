import './node-version.mjs'
import { rmSync } from 'node:fs'
import path from 'node:path'

const { installN8n } = await import('./n8n-install.mjs')
const { installOwnPackage } = await import('./own-package.mjs')
const { buildPackage, packPackage } = await import('./package.mjs')
const { prepare } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

/*
 * `npm run test:n8n [-- 2.8.4 2.41.1] [Jest options]`: installs the package as a user does, in a real n8n of each named
 * generation; by default in the generation that runs on this project's own Node. Only the time from an empty canvas to a
 * first payment, ten times: `STOPWATCHES=10 npm run test:n8n -- 2.8.4 -t stopwatch`.
 */
const GENERATIONS = { '2.8.4': { rebuild: ['sqlite3'] }, '2.41.1': { rebuild: ['sqlite3', 'isolated-vm'], node: true } }

const words = process.argv.slice(2)
const named = words.filter((word) => word in GENERATIONS)
const wanted = named.length > 0 ? named : ['2.8.4']

await prepare()
await buildPackage()
const packed = await packPackage()
const n8n = {}
for (const version of wanted) {
  const installed = await installN8n(version, GENERATIONS[version])
  if (installed !== undefined) n8n[version] = installed
}
const tested = Object.keys(n8n)
for (const version of wanted.filter((version) => !tested.includes(version))) {
  process.stderr.write(`SKIPPED: n8n ${version} is not here and npm's registry cannot be reached.\n`)
}
// In CI a skipped suite would look like a passed one.
if (tested.length < wanted.length && process.env.CI) process.exit(1)
if (tested.length === 0) process.exit(0)

for (const folder of ['lint', 'scan']) await installOwnPackage(`test/n8n/${folder}`)
// The suites for n8n's engine without its server, and for several processes of one n8n, run with one generation only,
// the one that installs faster.
const suites = ['package', 'update', ...(tested.includes('2.8.4') ? ['in-process', 'queue-mode'] : []), ...tested]
process.env.COINSLOT_N8N = JSON.stringify({ packed, n8n })
const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
process.exitCode = await become([
  ...jest,
  '--runInBand',
  // n8n takes ten seconds to start, or thirty on a busy machine.
  '--testTimeout=180000',
  ...suites.map((name) => `test/n8n/${name}[.]test[.]ts$`),
  ...words.filter((word) => !named.includes(word)),
  // Last, because Jest takes every word after it for one more pattern.
  '--testPathIgnorePatterns=/node_modules/',
])
rmSync(path.dirname(packed), { recursive: true })

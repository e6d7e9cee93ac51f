import './node-version.mjs'

const { installOwnPackage } = await import('./own-package.mjs')
const { prepare } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

await prepare({ build: false })
// These suites test against the packages that clients use: large ones that nothing else here needs.
for (const part of ['v1', 'v2', 'axios', 'mpp', 'mcp', 'models']) await installOwnPackage(`test/conformance/${part}`)
const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
process.exitCode = await become([
  ...jest,
  '--runInBand',
  'test/conformance/',
  ...process.argv.slice(2),
  // Last, because Jest takes every word after it for one more pattern.
  '--testPathIgnorePatterns=/node_modules/',
])

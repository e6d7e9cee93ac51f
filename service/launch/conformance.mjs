import './node-version.mjs'

const { installOwnPackage } = await import('./own-package.mjs')
const { prepare } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

await prepare()
// These suites test against the packages that clients use: large ones that nothing else here needs.
for (const part of ['v1', 'v2', 'axios', 'mpp', 'mcp', 'models', 'packages', 'runtimes'])
  await installOwnPackage(`test/conformance/${part}`)
const words = process.argv.slice(2)
// `npm run conformance -- packages` runs that file alone.
const named = words.filter((word) => !word.startsWith('-')).map((word) => `test/conformance/${word}[.]test[.]ts$`)
const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
process.exitCode = await become([
  ...jest,
  '--runInBand',
  ...(named.length > 0 ? named : ['test/conformance/']),
  ...words.filter((word) => word.startsWith('-')),
  // Last, because Jest takes every word after it for one more pattern.
  '--testPathIgnorePatterns=/node_modules/',
])

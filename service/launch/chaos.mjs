import './node-version.mjs'

const { prepare } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

await prepare()
// The suites of test/chaos take minutes and use the whole machine, so `npm test` leaves them out.
const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
const words = process.argv.slice(2)
// The first word may be a suite's name; the rest is for Jest.
const name = words[0]?.startsWith('-') === false ? words[0] : ''
const args = name === '' ? words : words.slice(1)
process.exitCode = await become([
  ...jest,
  '--runInBand',
  // A failed test leaves its processes running: they end with this run, which must not wait for them.
  '--forceExit',
  `test/chaos/${name}`,
  ...args,
  // Last, because Jest takes every word after it for one more pattern.
  '--testPathIgnorePatterns=/node_modules/',
])

import './node-version.mjs'

const { prepareSources } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

// What is built is prepared by test/harness/global-setup.mjs, which knows the files that were chosen.
await prepareSources()
const args = process.argv.slice(2)
// With Node's own 16 MB for young objects, clearing them away takes as long as all tests together.
const young = '--max-semi-space-size=64'
const jest = [
  young,
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
]
process.exitCode = await become([...jest, ...(process.env.CI ? ['--ci'] : []), ...args])

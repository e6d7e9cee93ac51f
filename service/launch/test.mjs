import './node-version.mjs'

const { prepareSources } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

// What is built is prepared by test/harness/global-setup.mjs, which knows the files that were chosen.
await prepareSources()
const args = process.argv.slice(2)
const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
process.exitCode = await become([...jest, ...(process.env.CI ? ['--ci'] : []), ...args])

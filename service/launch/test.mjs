import './node-version.mjs'

const { prepare } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

await prepare()
const args = process.argv.slice(2)
const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
process.exitCode = await become([...jest, ...(process.env.CI ? ['--ci'] : []), ...args])

import './node-version.mjs'

const { prepare } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

// Jest compiles what it runs, so the build is not needed.
await prepare({ build: false })
const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
process.exitCode = await become([...jest, ...(process.env.CI ? ['--ci'] : []), ...process.argv.slice(2)])

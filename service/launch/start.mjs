import './node-version.mjs'

const { prepare } = await import('./prepare.mjs')
await prepare()

// Runs in this process, so that signals, exit code and crashes are the service's own and need no relay.
process.setSourceMapsEnabled(true)
await import('../dist/main.js')

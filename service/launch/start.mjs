import './node-version.mjs'

const { prepare } = await import('./prepare.mjs')
await prepare()

// In this very process: signals, exit code and death are the service's own, with nobody in between to relay them.
process.setSourceMapsEnabled(true)
await import('../dist/main.js')

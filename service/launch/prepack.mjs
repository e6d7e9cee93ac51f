import './node-version.mjs'

// `npm pack` and `npm publish` in a fresh clone: what is packed is what was just built.
const { prepare } = await import('./prepare.mjs')
const { buildPackage } = await import('./package.mjs')

await prepare({ build: false })
await buildPackage()

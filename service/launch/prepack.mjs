import './node-version.mjs'

// For `npm pack` and `npm publish` in a fresh clone: they pack what was just built.
const { install } = await import('./prepare.mjs')
const { buildPackage } = await import('./package.mjs')

await install()
await buildPackage()

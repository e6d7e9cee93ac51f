import './node-version.mjs'

const { prepare } = await import('./prepare.mjs')
const { buildPackage } = await import('./package.mjs')

await prepare()
await buildPackage()

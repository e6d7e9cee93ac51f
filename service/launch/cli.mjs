import './node-version.mjs'

const { prepare } = await import('./prepare.mjs')
await prepare()

// `npm run ledger -- check` comes here as `cli.mjs ledger check`.
const [name, ...args] = process.argv.slice(2)
const tool = new URL(`../dist/cli/${name}.js`, import.meta.url)
process.argv = [process.execPath, tool.pathname, ...args]
process.setSourceMapsEnabled(true)
await import(tool.href)

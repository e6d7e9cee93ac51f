import './node-version.mjs'

const { prepare } = await import('./prepare.mjs')
const { filesUnder } = await import('./fingerprint.mjs')
const { become } = await import('./run.mjs')

await prepare()
const nodes = ['nodes', 'credentials'].flatMap((folder) => filesUnder(folder)).filter((file) => file.endsWith('.ts'))
if (nodes.length > 0) process.exitCode = await become(['node_modules/typescript/bin/tsc', '-p', '.', '--pretty'])

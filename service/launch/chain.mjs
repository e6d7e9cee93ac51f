import './node-version.mjs'

const { prepareSources } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

// `npm run chain`: runs both networks on this machine until Ctrl-C, with the tests' contracts and chain.
await prepareSources()
process.exitCode = await become([
  '--import',
  './service/launch/typescript.mjs',
  'test/chain/local.ts',
  ...process.argv.slice(2),
])

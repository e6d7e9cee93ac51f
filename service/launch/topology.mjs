import './node-version.mjs'

const { prepare } = await import('./prepare.mjs')
const { become } = await import('./run.mjs')

// `npm run topology`: runs two processes of each role on this machine until Ctrl-C, with the tests' servers and chain.
await prepare()
process.exitCode = await become([
  '--import',
  './service/launch/typescript.mjs',
  'test/system/program.ts',
  ...process.argv.slice(2),
])

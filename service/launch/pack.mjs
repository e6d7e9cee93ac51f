import './node-version.mjs'

const { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } = await import('node:fs')
const { tmpdir } = await import('node:os')
const path = await import('node:path')
const { install } = await import('./prepare.mjs')
const { buildPackage } = await import('./package.mjs')
const { node, npm, root } = await import('./run.mjs')

/**
 * Builds and packs what is published, into the clone's folder. `npm pack` alone would pack what is not built: .npmrc
 * switches scripts off, and with them `prepack`.
 */
await install()
const packages = [
  { at: '.', build: buildPackage },
  { at: 'service/client', build: () => node(['service/client/build.mjs']) },
  { at: 'service/paywall/middleware', build: () => node(['service/paywall/middleware/build.mjs']) },
]
for (const { at, build } of packages) {
  await build()
  const missing = filesOf(at).filter((file) => !existsSync(path.join(root, at, file)))
  if (missing.length > 0) {
    console.error(`${at} is not packed, because its build did not write ${missing.join(', ')}.`)
    process.exit(1)
  }
  console.log(await pack(at))
}

/** What its manifest promises. */
function filesOf(at) {
  const {
    main,
    bin = {},
    n8n = { nodes: [], credentials: [] },
  } = JSON.parse(readFileSync(path.join(root, at, 'package.json'), 'utf8'))
  return [...(main === undefined ? [] : [main]), ...Object.values(bin), ...n8n.nodes, ...n8n.credentials]
}

async function pack(at) {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-pack-'))
  await npm(['pack', path.join(root, at), '--ignore-scripts', '--pack-destination', folder])
  const [file] = readdirSync(folder)
  copyFileSync(path.join(folder, file), path.join(root, file))
  rmSync(folder, { recursive: true })
  return path.join(root, file)
}

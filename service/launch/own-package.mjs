import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { contentsOf, sha256 } from './fingerprint.mjs'
import { npm, root } from './run.mjs'

/**
 * Installs what a folder's own package.json and lock file ask for, once per lock file. For packages that only a
 * long suite needs: as a workspace they would be in everybody's install, and in the lock of what is shipped.
 */
export async function installOwnPackage(folder) {
  const stamp = path.join(root, folder, 'node_modules/.coinslot-lock')
  const wanted = sha256([contentsOf(`${folder}/package-lock.json`)])
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  process.stderr.write(`Installing the packages of ${folder} …\n`)
  // Peers that nothing here asks for are what makes some of these large.
  await npm(['ci', '--prefix', folder, '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'])
  writeFileSync(stamp, wanted)
}

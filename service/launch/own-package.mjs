import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { contentsOf, sha256 } from './fingerprint.mjs'
import { npm, root } from './run.mjs'

/**
 * Installs the dependencies of a folder's own package.json and lock file, once per lock file. For packages that only a
 * long suite needs: as a workspace they would be in every install, and in the lock file of the shipped package.
 */
export async function installOwnPackage(folder) {
  const stamp = path.join(root, folder, 'node_modules/.coinslot-lock')
  const wanted = sha256([contentsOf(`${folder}/package-lock.json`)])
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  process.stderr.write(`Installing the packages of ${folder} …\n`)
  // Without peer dependencies: unused peers make some of these installs large.
  await npm(['ci', '--prefix', folder, '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'])
  writeFileSync(stamp, wanted)
}

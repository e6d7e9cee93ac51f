import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { node, npm, root } from './run.mjs'

/** Builds the nodes and credentials that n8n loads, from scratch: output of a deleted file must not be shipped. */
export async function buildPackage() {
  rmSync(path.join(root, 'dist'), { recursive: true, force: true })
  await node(['node_modules/typescript/bin/tsc', '-p', '.', ...(process.stderr.isTTY ? ['--pretty'] : [])])
  await node(['node_modules/gulp/bin/gulp.js', 'build:icons'])
}

/** Packs the file that a user installs, into a folder of its own. */
export async function packPackage() {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-package-'))
  await npm(['pack', '--ignore-scripts', '--pack-destination', folder])
  const [file] = readdirSync(folder)
  return path.join(folder, file)
}

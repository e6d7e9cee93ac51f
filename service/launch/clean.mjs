import { rmSync } from 'node:fs'
import path from 'node:path'
import { root } from './run.mjs'

// Removes only what a launch rebuilds. DATA_DIR holds money and must never be removed here.
for (const made of ['dist', 'service/dist', 'service/database/generated', '.build', 'coverage']) {
  rmSync(path.join(root, made), { recursive: true, force: true })
}

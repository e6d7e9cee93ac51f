import { rmSync } from 'node:fs'
import path from 'node:path'
import { root } from './run.mjs'

// Only what a launch makes again. DATA_DIR holds money and is nobody's to clean.
for (const made of ['dist', 'service/dist', 'service/database/generated', '.build', 'coverage']) {
  rmSync(path.join(root, made), { recursive: true, force: true })
}

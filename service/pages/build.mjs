import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build } from 'vite'
import { compress } from './compress.mjs'

/**
 * Builds both parts of the pages: the browser's files, whose names change with their contents, and the code that the
 * service renders with. The output appears only when all of it is complete.
 */
const root = path.join(import.meta.dirname, 'browser')
const target = path.resolve(import.meta.dirname, '../../.build/pages')
const making = `${target}.making`

const common = {
  root,
  configFile: false,
  logLevel: 'warn',
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
}

rmSync(making, { recursive: true, force: true })
await build({
  ...common,
  build: {
    outDir: `${making}/browser`,
    emptyOutDir: true,
    assetsDir: '',
    manifest: 'manifest.json',
    modulePreload: false,
    // An inlined image would be a `data:` URL, which the page's policy allows only for wallets.
    assetsInlineLimit: 0,
    rolldownOptions: { input: path.join(root, 'main.tsx') },
  },
})
await build({
  ...common,
  ssr: { noExternal: true },
  build: {
    outDir: `${making}/server`,
    emptyOutDir: true,
    ssr: path.join(root, 'server.tsx'),
    rolldownOptions: { output: { entryFileNames: 'server.mjs' } },
  },
})
compress(`${making}/browser`)
rmSync(target, { recursive: true, force: true })
renameSync(making, target)

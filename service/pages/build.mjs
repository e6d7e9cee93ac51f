import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build } from 'vite'
import { compress } from './compress.mjs'

/**
 * Builds both halves of the pages: what the browser loads, under names that change with their contents, and what
 * the service renders with. Nothing of it is there before all of it is.
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
    // A picture in the style would be asked for as `data:`, which the page allows to wallets alone.
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

import tailwind from '@tailwindcss/vite'
import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build } from 'vite'
import { compress } from '../pages/compress.mjs'

/**
 * Builds what the browser loads, under names that change with their contents, a piece for each page. Nothing of it
 * is there before all of it is.
 */
const root = path.join(import.meta.dirname, 'browser')
const target = path.resolve(import.meta.dirname, '../../.build/dashboard')
const making = `${target}.making`

rmSync(making, { recursive: true, force: true })
await build({
  root,
  configFile: false,
  logLevel: 'warn',
  base: './',
  plugins: [tailwind()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'react' } },
  build: {
    outDir: making,
    emptyOutDir: true,
    assetsDir: '',
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    // The charts are the one large piece, and only pages with figures ask for it.
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      input: path.join(root, 'main.tsx'),
      onLog(level, log, handle) {
        // Many libraries say "use client", which means nothing where everything is the client's.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log)
      },
    },
  },
})
compress(making)
rmSync(target, { recursive: true, force: true })
renameSync(making, target)

import tailwind from '@tailwindcss/vite'
import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build } from 'vite'
import { compress } from '../pages/compress.mjs'

/**
 * Builds the files that the browser loads, one script per page, under names that change with their contents. No file is
 * put in place before all are built.
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
    // The charts are the one large file, and only pages with charts load it.
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      input: path.join(root, 'main.tsx'),
      onLog(level, log, handle) {
        // Many libraries contain "use client", which means nothing here because all of this code runs in the browser.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log)
      },
    },
  },
})
compress(making)
rmSync(target, { recursive: true, force: true })
renameSync(making, target)

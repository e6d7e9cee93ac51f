import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build } from 'vite'
import { compress } from './compress.mjs'

/**
 * Builds both parts of the pages: the browser's files, whose names change with their contents, and the code that the
 * service renders with. The output appears only when all of it is complete.
 */
const root = path.join(import.meta.dirname, 'browser')
/** Loaded once it is needed: few people test a checkout, see a gate, verify a receipt, report a problem, want an invoice, have no wallet, pay with a passkey or by a transfer, or have a pass, few checkouts are chats or use the escrow, and an answer comes after its payment. */
const LATER =
  /[/](gate|verify|chat|passkey)[/]|[/]answer[/](Formatted|read)[.]|[/]checkout[/](Attempts|faults|Escrow|ReportForm|InvoiceForm|Requests|NoWallet|Transfer|Arrivals|transfers|Copied|handover|passes|embedded|FileField|prefill)[.]|[/]ui-kit[/](markdown|drawing|uploads|uploaded)[.]|[/]kit[/](answer|passkey-wallet|keccak)[.]/
const target = path.resolve(import.meta.dirname, '../../.build/pages')
const making = `${target}.making`

const common = {
  root,
  configFile: false,
  logLevel: 'warn',
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
}

/** A script that is loaded later brings no style of its own, so nothing has to be fetched before it. */
const plainImports = {
  name: 'plain-imports',
  load: {
    order: 'pre',
    handler: (id) => (id.includes('vite/preload-helper') ? 'export const __vitePreload = (load) => load()' : null),
  },
}

rmSync(making, { recursive: true, force: true })
await build({
  ...common,
  plugins: [plainImports],
  build: {
    outDir: `${making}/browser`,
    emptyOutDir: true,
    assetsDir: '',
    manifest: 'manifest.json',
    modulePreload: false,
    // An inlined image would be a `data:` URL, which the page's policy allows only for wallets.
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: path.join(root, 'main.tsx'),
      output: {
        // What scripts share stays in the first one: a script of its own would be one more wait.
        codeSplitting: { groups: [{ name: 'main', test: (id) => !LATER.test(id) }] },
      },
    },
  },
})
await build({
  ...common,
  ssr: { noExternal: true },
  build: {
    outDir: `${making}/server`,
    emptyOutDir: true,
    ssr: path.join(root, 'server.tsx'),
    rolldownOptions: { output: { entryFileNames: 'server.mjs', chunkFileNames: '[name]-[hash].mjs' } },
  },
})
await build({
  ...common,
  build: {
    outDir: `${making}/embed`,
    emptyOutDir: true,
    lib: { entry: path.join(root, 'embed/embed.ts'), formats: ['iife'], name: 'embed', fileName: () => 'embed.js' },
    rolldownOptions: { output: { name: undefined } },
  },
})
compress(`${making}/browser`)
rmSync(target, { recursive: true, force: true })
renameSync(making, target)

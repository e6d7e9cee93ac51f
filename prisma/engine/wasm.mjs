import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** The package's own entry imports its .wasm as a module, which Node 20 does only behind a flag. */
export async function loadEngine() {
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg')
  const file = new URL('schema_engine_bg.wasm', import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg'))
  const module = await WebAssembly.compile(await readFile(fileURLToPath(file)))
  const { exports } = await WebAssembly.instantiate(module, { './schema_engine_bg.js': glue })
  glue.__wbg_set_wasm(exports)
  exports.__wbindgen_start()
  return glue
}

let panic

/** What the engine said as it panicked, if it did: its glue hands the message to this global. */
export function lastPanic() {
  return panic
}

globalThis.PRISMA_WASM_PANIC_REGISTRY = { set_message: (message) => void (panic = message) }

import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile } from './compile.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

it("the contracts' sources compile to the committed code", () => {
  const files = Object.entries(compile())
  expect(files.length).toBeGreaterThan(1)
  for (const [file, text] of files) {
    // Not shown as a difference: it would be a page of digits.
    if (readFileSync(path.join(ROOT, file), 'utf8') !== text) {
      throw new Error(`${file} is not what its source says: run test/chain/compile.ts`)
    }
  }
  // The compiler alone takes seconds, and many times that on a busy machine.
})

import { readFileSync, writeFileSync } from 'node:fs'
import { outputsFile } from './output-types.ts'

const FILE = 'service/api/reference/outputs.ts'

/** `UPDATE_OUTPUTS=true npm test -- test/trpc/outputs` writes the file after a change of a procedure. */
it('the reference says of each procedure what its code answers', () => {
  const text = outputsFile()
  if (process.env['UPDATE_OUTPUTS'] === 'true') writeFileSync(FILE, text)
  expect(readFileSync(FILE, 'utf8')).toBe(text)
})

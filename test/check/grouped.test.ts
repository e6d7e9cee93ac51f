import { readdirSync } from 'node:fs'
import path from 'node:path'
import { GROUPS, groupedFiles } from '../grouped/files.mjs'

test('each group of tests has its file, and together they are all that is grouped', () => {
  const files = readdirSync(path.join(import.meta.dirname, '../grouped')).filter((file) => file.endsWith('.test.ts'))
  const numbers = Array.from({ length: GROUPS }, (_, index) => index + 1)
  expect(files.sort()).toEqual(numbers.map((number) => `group-${String(number)}.test.ts`).sort())
  expect(numbers.flatMap((number) => groupedFiles(number)).sort()).toEqual(groupedFiles())
})

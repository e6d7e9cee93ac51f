import { readdirSync } from 'node:fs'
import path from 'node:path'

/**
 * The tests of endpoints are many small files. Jest loads the whole service anew for each file, which takes longer than
 * what most of them do: `npm test` runs them in a few groups, and so loads it a few times. Each file still boots a
 * service of its own. A path on the command line runs the files themselves.
 */
export async function endpointTests(group: number, of: number): Promise<void> {
  const folder = path.join(import.meta.dirname, '../endpoints')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'))
  for (const [index, file] of files.sort().entries()) {
    if (index % of === group - 1) await import(path.join(folder, file))
  }
}

import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Most tests are many small files. Jest loads the whole service anew for each of them, which takes longer than what
 * most of them do: `npm test` runs them in a few groups, and so loads it a few times. Each file still boots a service
 * and a database of its own. A path on the command line runs the files themselves.
 */
export const GROUPS = 12

const root = path.join(import.meta.dirname, '..')
/** What looks at the whole process or takes long stays by itself; n8n's library changes the world for whoever shares it. */
const alone = [
  'browser',
  'chaos',
  'bench',
  'check',
  'conformance',
  'database',
  'grouped',
  'n8n',
  'nodes',
  'properties',
  'queue',
  'stories',
  'system',
]

/** Of those, the files of one group; of all of them without a number. */
export function groupedFiles(group) {
  const files = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !alone.includes(entry.name) && entry.name !== 'node_modules')
    .flatMap(({ name }) => readdirSync(path.join(root, name), { recursive: true }).map((file) => path.join(name, file)))
    .filter((file) => file.endsWith('.test.ts') && !preparesForAll(file))
    .sort()
  return files.filter((_file, index) => group === undefined || index % GROUPS === group - 1)
}

/** What is prepared outside a `describe` would be prepared for the whole group. */
function preparesForAll(file) {
  return /^(before|after)(All|Each)\(/m.test(readFileSync(path.join(root, file), 'utf8'))
}

import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Most tests are many small files. Jest loads the whole service anew for each of them, which takes longer than most of
 * the tests themselves. `npm test` runs them in a few groups, and so loads the service a few times. Each file still
 * starts a service and a database of its own. A path on the command line runs the files themselves.
 */
export const GROUPS = 12

const root = path.join(import.meta.dirname, '..')
/**
 * Tests that inspect the whole process or take long run alone; n8n's library changes the process for all tests in it.
 */
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

/** The files of one group; of all groups without a number. */
export function groupedFiles(group) {
  const files = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !alone.includes(entry.name) && entry.name !== 'node_modules')
    .flatMap(({ name }) => readdirSync(path.join(root, name), { recursive: true }).map((file) => path.join(name, file)))
    .filter((file) => /(?<!\.(?:timed|long))\.test\.ts$/.test(file) && !preparesForAll(file))
    .sort()
  return files.filter((_file, index) => group === undefined || index % GROUPS === group - 1)
}

/** What is prepared outside a `describe` would be prepared for the whole group. */
function preparesForAll(file) {
  return /^(before|after)(All|Each)\(/m.test(readFileSync(path.join(root, file), 'utf8'))
}

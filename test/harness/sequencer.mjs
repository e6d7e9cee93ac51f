import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'

const root = path.join(import.meta.dirname, '../..')
const CHOSEN = Symbol.for('coinslot chosen tests')

/** The files of this run. Jest orders them before it calls the global setup, in the same process. */
export function chosenTests() {
  return globalThis[CHOSEN]
}

/**
 * The order of the test files. The longest come first, so that no worker is left with a long one when the others are done.
 * Files with a browser run beside the others: two browsers at once need more than two cores, and most other files
 * wait for a database or a process half of their time.
 */
export default class Sequencer {
  sort(tests) {
    globalThis[CHOSEN] = tests.map((test) => path.relative(root, test.path))
    const longest = tests
      .map((test) => ({ test, length: lengthOf(path.relative(root, test.path)) }))
      .sort((one, other) => other.length - one.length || (one.test.path < other.test.path ? -1 : 1))
    const lanes = [true, false].map((inBrowser) => ({
      files: longest.filter(({ test }) => isInBrowser(test.path) === inBrowser),
      begun: 0,
    }))
    // The next file of the lane that has begun less: while one worker is at a long story, the other goes through many files.
    return longest.map(() => {
      const [lane] = lanes.filter(({ files }) => files.length > 0).sort((one, other) => one.begun - other.begun)
      const { test, length } = lane.files.shift()
      lane.begun += length
      return test
    })
  }

  // Jest calls these too. Nothing is remembered between two runs: a fresh clone has the same order.
  cacheResults() {}
  allFailedTests(tests) {
    return tests
  }
}

/** How long a file may run: by its code, with that of its stories. The same code takes a browser longer. */
function lengthOf(file) {
  const text = readFileSync(path.join(root, file), 'utf8')
  const stories = [...text.matchAll(/from '(\.\/[\w-]+\.story\.ts)'/g)].map(([, story]) =>
    path.join(root, path.dirname(file), story),
  )
  const size = stories.reduce((sum, story) => sum + statSync(story).size, text.length)
  return isInBrowser(file) ? size * BROWSER : size
}

const BROWSER = 5

function isInBrowser(file) {
  return file.includes(`browser${path.sep}`)
}

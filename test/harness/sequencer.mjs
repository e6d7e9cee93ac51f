import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'

const root = path.join(import.meta.dirname, '..')

/**
 * The order of the test files. The longest come first, so that no worker is left with a long one when the others are done.
 * Files with a browser alternate with the others: two browsers at once need more than two cores, and most other files
 * wait for a database or a process half of their time.
 */
export default class Sequencer {
  sort(tests) {
    const longest = tests
      .map((test) => ({ test, size: sizeOf(path.relative(root, test.path)) }))
      .sort((one, other) => other.size - one.size || (one.test.path < other.test.path ? -1 : 1))
      .map(({ test }) => test)
    const inBrowser = longest.filter(({ path: file }) => file.includes(`${path.sep}browser${path.sep}`))
    const others = longest.filter((test) => !inBrowser.includes(test))
    return longest.flatMap((_, place) => [inBrowser[place], others[place]].filter((test) => test !== undefined))
  }

  // Jest calls these too. Nothing is remembered between two runs: a fresh clone has the same order.
  cacheResults() {}
  allFailedTests(tests) {
    return tests
  }
}

/** How much code a file runs, with that of the stories that it consists of. */
function sizeOf(file) {
  const text = readFileSync(path.join(root, file), 'utf8')
  const stories = [...text.matchAll(/from '(\.\/[\w-]+\.story\.ts)'/g)].map(([, story]) =>
    path.join(root, path.dirname(file), story),
  )
  return stories.reduce((sum, story) => sum + statSync(story).size, text.length)
}

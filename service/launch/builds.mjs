import { contentsOf, reachedFrom } from './fingerprint.mjs'

/**
 * The builds that these test files run with, by the names of their steps. Every test process has the packages and the client.
 * A test that starts a service in its own process reads the pages' files, since the service does. One that starts another
 * process may start anything, so it has all of them.
 */
export function buildsFor(files) {
  const reached = reachedFrom(files)
  const needed = new Set(['packages', 'client'])
  for (const [build, reader] of READERS) if (reached.includes(reader)) needed.add(build)
  if (reached.some((file) => file.startsWith('test/') && OUTSIDE.test(contentsOf(file))))
    for (const build of BUILDS) needed.add(build)
  return needed
}

const BUILDS = ['service', 'dashboard', 'pages']

/** The one file that reads each build; `test/launch/builds.test.ts` finds them. */
const READERS = [
  ['pages', 'service/pages/pages.ts'],
  ['dashboard', 'service/wiring/dashboard.ts'],
]

/** Starts a program, or reads the built service, or imports what only its run decides. */
const OUTSIDE = /process\.execPath|['"](?:npm|npx|node)['"]|\bfork\(|new Worker\(|service\/dist|import\((?!['"])/

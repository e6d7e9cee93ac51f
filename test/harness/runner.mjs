import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import circus from 'jest-circus/runner'
import '../../service/launch/typescript.mjs'

/**
 * Runs a test file with Node's own modules. Jest would load the whole service anew for each file, into a context of its own
 * in which every name of JavaScript itself is looked up first: that took longer than most tests. Here the files of a
 * worker share the modules that they load, as those of one process do; each starts a service and a database of its own.
 */
export default async function run(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  if (OF_THEIR_OWN.some((folder) => testPath.startsWith(path.join(config.rootDir, folder))))
    return await circus.default(globalConfig, config, environment, runtime, testPath, sendMessageToJest)
  // Jest's own formatter of stacks knows the files that Jest has compiled.
  Error.prepareStackTrace = undefined
  const native = {
    requireInternalModule: withoutState,
    requireModule: (file) => runtime.requireModule(file),
    setGlobalsForRuntime: () => undefined,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (file) => import(pathToFileURL(file).href),
    enterTestCode: () => undefined,
    leaveTestCode: () => undefined,
  }
  return await circus.default(globalConfig, config, { global: globalThis }, native, testPath, sendMessageToJest)
}

/** n8n's library changes the process, and needs a name that only Jest replaces. */
const OF_THEIR_OWN = ['test/nodes/', 'test/n8n/']

const require = createRequire(import.meta.url)

/**
 * Jest's list of a file's tests and hooks begins anew with each file. What it kept of the file before goes: its symbol is
 * a new one each time.
 */
function withoutState(file) {
  delete require.cache[file]
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (STATES.includes(symbol.description)) delete globalThis[symbol]
  const plain = asyncHooks.AsyncLocalStorage
  asyncHooks.AsyncLocalStorage = function () {
    return running
  }
  try {
    return require(file)
  } finally {
    asyncHooks.AsyncLocalStorage = plain
  }
}

const STATES = ['EVENT_HANDLERS', 'JEST_STATE_SYMBOL']
const asyncHooks = require('node:async_hooks')
/**
 * The test that is running, where Jest would have a store of asynchronous contexts: that is asked at every promise of the
 * service, and each timer and connection would keep its test, and with it that test's service. Tests run one after the other.
 */
const running = {
  test: undefined,
  getStore: () => running.test,
  async run(test, work) {
    const before = running.test
    running.test = test
    try {
      return await work()
    } finally {
      running.test = before
    }
  },
}

process.setSourceMapsEnabled(true)

/**
 * A worker that has nothing left to do ends at once. To give back all of its memory first takes longer on a busy machine than the half
 * second that Jest waits, which then reports open handles that there are not. With one this is never reached.
 */
if (process.send !== undefined) process.once('beforeExit', (code) => process.exit(code))

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
 * a new one each time, and so is its store of asynchronous contexts, of which every promise would carry all.
 */
function withoutState(file) {
  delete require.cache[file]
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (STATES.includes(symbol.description)) delete globalThis[symbol]
  const plain = asyncHooks.AsyncLocalStorage
  asyncHooks.AsyncLocalStorage = function () {
    return contexts
  }
  try {
    return require(file)
  } finally {
    asyncHooks.AsyncLocalStorage = plain
  }
}

const STATES = ['EVENT_HANDLERS', 'JEST_STATE_SYMBOL']
const asyncHooks = require('node:async_hooks')
const contexts = new asyncHooks.AsyncLocalStorage()

process.setSourceMapsEnabled(true)

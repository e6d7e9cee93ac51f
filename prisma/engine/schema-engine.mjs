#!/usr/bin/env node
/**
 * What the Prisma CLI starts as its schema engine. The CLI speaks JSON-RPC, a line a message, over stdio to
 * a native binary that it would have to download; this script answers the same calls from the WebAssembly
 * build of the engine, over the driver adapter. `prisma.config.ts` points the CLI here.
 */
import { createInterface } from 'node:readline'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import { canConnect, createDatabase, databases } from './databases.mjs'
import { lastPanic, loadEngine } from './wasm.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    datamodels: { type: 'string', multiple: true },
    datasource: { type: 'string' },
    'enabled-preview-features': { type: 'string' },
    'extension-types': { type: 'string' },
    version: { type: 'boolean', short: 'V' },
  },
})

/** What the two builds of the engine call differently. */
const RENAMED = { getDatabaseVersion: 'version' }

/** These compare with the migrations replayed on a shadow database. */
const REPLAYING = ['createMigration', 'evaluateDataLoss']

if (values.version === true) {
  const { version } = await loadEngine()
  process.stdout.write(`schema-engine-cli ${version()}\n`)
} else if (positionals[0] === 'cli') {
  await oneCommand(positionals[1])
} else {
  await serve()
}

async function serve() {
  let engine
  let pending
  // A panic of the engine surfaces outside its promise. Unanswered, the CLI would end as if all were well.
  process.on('uncaughtException', (error) => {
    send({ jsonrpc: '2.0', id: pending, ...failure(error) })
    process.exitCode = 101
    process.stdin.destroy()
  })
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    // The CLI's acknowledgement of a `print`.
    if (request.method === undefined) continue
    pending = request.id
    engine ??= startEngine(request)
    send({ jsonrpc: '2.0', id: request.id, ...(await answer(engine, request)) })
  }
  process.exit(0)
}

async function startEngine(request) {
  const { SchemaEngine } = await loadEngine()
  const factory = bindMigrationAwareSqlAdapterFactory(databases(databaseUrl(), readsDatabase(request)))
  const files = values.datamodels ?? []
  const datamodels = await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')]))
  try {
    const engine = await SchemaEngine.new(
      { datamodels: files.length === 0 ? undefined : datamodels },
      () => undefined,
      factory,
    )
    return { engine, errors: factory.errorRegistry }
  } catch (error) {
    throw original(error, factory.errorRegistry)
  }
}

function readsDatabase({ method, params }) {
  const live = ['url', 'schemaDatasource']
  return method !== 'diff' || live.includes(params.from.tag) || live.includes(params.to.tag)
}

async function answer(starting, { method, params }) {
  let errors
  try {
    if (method === 'createDatabase') return { result: await createDatabase(params.datasource.url ?? databaseUrl()) }
    const started = await starting
    errors = started.errors
    // This build does not hand the shadow database on here, but remembers what a diagnosis has replayed on it.
    if (REPLAYING.includes(method)) await started.engine.devDiagnostic(params)
    const result = (await started.engine[RENAMED[method] ?? method](params)) ?? null
    // The native engine prints a diff through the CLI instead of returning it.
    if (method === 'diff' && typeof result.stdout === 'string') {
      send({ jsonrpc: '2.0', id: 0, method: 'print', params: { content: result.stdout } })
    }
    return { result }
  } catch (thrown) {
    return failure(original(thrown, errors))
  }
}

function failure(error) {
  const panic = lastPanic()
  const data = {
    is_panic: panic !== undefined,
    message: panic ?? error.message,
    error_code: error.code,
    meta: error.meta,
  }
  return { error: { code: 4466, message: 'An error happened. Check the data field for details.', data } }
}

/** What the adapter threw comes back out of the engine as a number. */
function original(error, errors) {
  const id = /External error id#(\d+)/.exec(error.message)?.[1]
  return id === undefined ? error : (errors?.consumeError(Number(id))?.error ?? error)
}

/** `can-connect-to-database` and `create-database`, which the CLI runs as processes of their own. */
async function oneCommand(command) {
  try {
    if (command === 'can-connect-to-database') await canConnect(databaseUrl())
    else if (command === 'create-database') await createDatabase(databaseUrl())
    else throw new Error(`The schema engine has no command ${command}.`)
  } catch (error) {
    const fields = { message: error.message, error_code: error.code, is_panic: false }
    process.stderr.write(`${JSON.stringify({ level: 'ERROR', target: 'schema_engine::logger', fields })}\n`)
    process.exitCode = 1
  }
}

function databaseUrl() {
  return JSON.parse(values.datasource ?? '{}').url
}

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { DOCUMENT_LIMITS, linked, surveyed, type DocumentLimits } from './references.ts'
import type * as Files from 'node:fs'
import type * as Parser from '@readme/openapi-parser'
import type * as Threads from 'node:worker_threads'

/** The document without any `$ref`: each is replaced by its target, which is the same object at every place. */
export type Result = { document: unknown } | { fault: string }

/**
 * Parses, checks and links a document in a separate thread, because a third party's document may be built to use
 * up all memory or time. Each document gets its own thread. The thread's program is passed as text, so that it starts
 * in the same way from the sources, from the build and in tests.
 */
export async function linkedDocument(text: string, { limitMs }: { limitMs: number }): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'openapi-'))
  const worker = new Worker(`(${String(readOnce)})(require, ${String(surveyed)}, ${String(linked)})`, {
    eval: true,
    workerData: {
      library: createRequire(import.meta.url).resolve('@readme/openapi-parser'),
      text,
      limits: DOCUMENT_LIMITS,
      file: path.join(folder, 'document.yaml'),
    },
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 32, stackSizeMb: 8 },
  })
  worker.unref()
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<Result>((resolve) => {
      timer = setTimeout(
        () => resolve({ fault: `it takes longer than ${String(limitMs / 1000)} seconds to read` }),
        limitMs,
      )
      worker.on('message', resolve)
      worker.on('messageerror', () => resolve({ fault: UNREADABLE }))
      worker.on('error', () => resolve({ fault: UNREADABLE }))
      worker.on('exit', () => resolve({ fault: UNREADABLE }))
    })
  } finally {
    clearTimeout(timer)
    await worker.terminate()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The thread ended because of too much memory, too deep nesting, or an error list longer than the document. */
const UNREADABLE = 'it is too large, too deep or too faulty to be read'

/** Converted to text, so it may use nothing from outside except its parameters. */
function readOnce(require: NodeJS.Require, survey: typeof surveyed, link: typeof linked): void {
  const threads = require('node:worker_threads') as typeof Threads
  const { library, text, file, limits } = threads.workerData as Task
  const { writeFileSync } = require('node:fs') as typeof Files

  const opened = async (): Promise<unknown> => {
    let unread: unknown
    try {
      return JSON.parse(text)
    } catch (error) {
      unread = error
    }
    const { parse } = require(library) as typeof Parser
    // The library reads YAML from a file only, and no other file than this one.
    writeFileSync(file, text)
    try {
      return await parse(file, { resolve: { external: false } })
    } catch (error) {
      throw text.trimStart().startsWith('{') ? unread : error
    }
  }

  const answer = async (): Promise<Result> => {
    const document = await opened()
    const result = survey(document, limits)
    if ('fault' in result) return result
    const fault = link(document, result.sites, limits)
    if (fault !== null) return { fault }
    // Every other component that is used stands where it is referred to.
    const whole = document as Record<string, unknown>
    const components = (whole['components'] ?? {}) as Record<string, unknown>
    whole['components'] = { securitySchemes: components['securitySchemes'] }
    for (const name of ['definitions', 'parameters', 'responses', 'webhooks']) Reflect.deleteProperty(whole, name)
    return { document: whole }
  }

  answer().then(
    (result) => threads.parentPort?.postMessage(result),
    (error: unknown) => {
      const { name, message } = error as { name?: unknown; message?: unknown }
      const why = name === 'RangeError' ? 'it is nested too deep' : String(message).slice(0, 2_000)
      const fault = `it is neither JSON nor YAML of an OpenAPI document: ${why}`
      threads.parentPort?.postMessage({ fault: fault.replaceAll(file, 'the document') })
    },
  )
}

interface Task {
  library: string
  text: string
  file: string
  limits: DocumentLimits
}

import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import type * as Files from 'node:fs'
import type * as Parser from '@readme/openapi-parser'
import type * as Threads from 'node:worker_threads'

export interface Job {
  text: string
  /** False for documents that were checked before they were committed. */
  validate: boolean
}

/** The document without any `$ref`: each is replaced by its target, which is the same object at every place. */
export type Result = { document: unknown } | { fault: string }

/**
 * Parses, checks and dereferences a document in a separate thread, because a third party's document may be built to use
 * up all memory or time. Each document gets its own thread. The thread's program is passed as text, so that it starts
 * in the same way from the sources, from the build and in tests.
 */
export async function dereference(job: Job, { limitMs }: { limitMs: number }): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'openapi-'))
  const worker = new Worker(`(${String(dereferenceOnce)})(require)`, {
    eval: true,
    workerData: {
      library: createRequire(import.meta.url).resolve('@readme/openapi-parser'),
      job,
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

/** Converted to text, so it may use nothing from outside except its parameter. */
function dereferenceOnce(require: NodeJS.Require): void {
  const threads = require('node:worker_threads') as typeof Threads
  const { library, job, file } = threads.workerData as { library: string; job: Job; file: string }
  const { validate, dereference, compileErrors } = require(library) as typeof Parser
  const { writeFileSync } = require('node:fs') as typeof Files
  type Document = Parameters<typeof dereference>[0]

  /** Reads the document again for each use, because the library changes its input. It accepts YAML from a file only. */
  const opened = async <T>(use: (document: Document) => Promise<T>): Promise<T> => {
    let document: unknown
    try {
      document = JSON.parse(job.text)
    } catch {
      document = null
    }
    if (typeof document === 'object' && document !== null) return await use(document as Document)
    writeFileSync(file, job.text)
    return await use(file)
  }

  // External references are not fetched: neither our own files nor addresses on the network.
  const options = { resolve: { external: false }, dereference: { circular: true } }

  const answer = async (): Promise<Result> => {
    if (job.validate) {
      const result = await opened((document) => validate(document, options))
      if (!result.valid) return { fault: compileErrors(result).slice(0, 2_000) }
    }
    const whole = (await opened((document) => dereference(document, options))) as Record<string, unknown>
    const components = (whole['components'] ?? {}) as Record<string, unknown>
    // Every other component that is used has been inlined.
    whole['components'] = { securitySchemes: components['securitySchemes'] }
    return { document: whole }
  }

  answer().then(
    (result) => threads.parentPort?.postMessage(result),
    (error: unknown) =>
      threads.parentPort?.postMessage({ fault: String((error as { message?: unknown }).message).slice(0, 2_000) }),
  )
}

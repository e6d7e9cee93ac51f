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
  /** Not again what was checked before it came into the repository. */
  validate: boolean
}

/** The document without a `$ref`: what was referred to is in its place, the same object wherever it was. */
export type Result = { document: unknown } | { fault: string }

/**
 * Parsed, checked and dereferenced where it harms nobody: a stranger's document may be made to take all memory or all
 * time. A thread for each; its program is a text, so that it starts alike from sources, from the build and in tests.
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

/** The thread ended: of memory, of depth, or of a list of faults that was longer than the document. */
const UNREADABLE = 'it is too large, too deep or too faulty to be read'

/** Becomes a text: it may use nothing from outside but its parameter. */
function dereferenceOnce(require: NodeJS.Require): void {
  const threads = require('node:worker_threads') as typeof Threads
  const { library, job, file } = threads.workerData as { library: string; job: Job; file: string }
  const { validate, dereference, compileErrors } = require(library) as typeof Parser
  const { writeFileSync } = require('node:fs') as typeof Files
  type Document = Parameters<typeof dereference>[0]

  /** Anew for each use: the library changes what it is given. YAML it takes from a file only. */
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

  // What a document refers to outside of itself is not fetched: neither files of ours nor addresses of anybody.
  const options = { resolve: { external: false }, dereference: { circular: true } }

  const answer = async (): Promise<Result> => {
    if (job.validate) {
      const result = await opened((document) => validate(document, options))
      if (!result.valid) return { fault: compileErrors(result).slice(0, 2_000) }
    }
    const whole = (await opened((document) => dereference(document, options))) as Record<string, unknown>
    const components = (whole['components'] ?? {}) as Record<string, unknown>
    // All else that is used came into its place.
    whole['components'] = { securitySchemes: components['securitySchemes'] }
    return { document: whole }
  }

  answer().then(
    (result) => threads.parentPort?.postMessage(result),
    (error: unknown) =>
      threads.parentPort?.postMessage({ fault: String((error as { message?: unknown }).message).slice(0, 2_000) }),
  )
}

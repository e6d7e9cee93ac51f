import { createRequire } from 'node:module'
import type * as Threads from 'node:worker_threads'
import { Worker } from 'node:worker_threads'

/** A thread that evaluates. Its program is a text, so that it starts alike from sources, from the build and in tests. */
export function startThread(): Worker {
  return new Worker(`(${String(evaluateForever)})(require)`, {
    eval: true,
    workerData: { library: createRequire(import.meta.url).resolve('jsonata') },
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  })
}

export interface Job {
  id: number
  expression: string
  /** JSON; null when it is only to be compiled. */
  input: string | null
  resultMax: number
}

export type Result =
  { id: number; result: string | null } | { id: number; fault: string; what: 'syntax' | 'run' | 'size' }

/** Becomes a text: it may use nothing from outside but its parameter. */
function evaluateForever(require: NodeJS.Require): void {
  const threads = require('node:worker_threads') as typeof Threads
  const port = threads.parentPort
  const { library } = threads.workerData as { library: string }
  const jsonata = require(library) as (expression: string) => { evaluate(input: unknown): Promise<unknown> }
  const compiled = new Map<string, { evaluate(input: unknown): Promise<unknown> }>()

  const compile = (expression: string) => {
    const known = compiled.get(expression)
    if (known !== undefined) return known
    const made = jsonata(expression)
    if (compiled.size >= 200) compiled.clear()
    compiled.set(expression, made)
    return made
  }

  const answer = async ({ id, expression, input, resultMax }: Job): Promise<Result> => {
    let program
    try {
      program = compile(expression)
    } catch (error) {
      return { id, fault: String((error as { message?: unknown }).message), what: 'syntax' }
    }
    if (input === null) return { id, result: null }
    try {
      const result = JSON.stringify(await program.evaluate(JSON.parse(input))) as string | undefined
      if (result !== undefined && result.length > resultMax) return { id, fault: 'too large', what: 'size' }
      return { id, result: result ?? null }
    } catch (error) {
      return { id, fault: String((error as { message?: unknown }).message), what: 'run' }
    }
  }

  port?.on('message', (job: Job) => {
    void answer(job).then((result) => port.postMessage(result))
  })
  port?.postMessage('ready')
}

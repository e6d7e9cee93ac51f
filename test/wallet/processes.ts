import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order } from './child/worker.ts'

export const WORKER = fileURLToPath(new URL('./child/worker.ts', import.meta.url))

/** A process of the service; it reports when it is ready, and dies on command or by itself. */
export function startWorker(
  order: Order,
  /** Its code as one file, where it is started often. */
  program: string | null = null,
): {
  child: ChildProcess
  ready: Promise<void>
  dead: Promise<string | null>
} {
  const child = fork(program ?? WORKER, {
    execArgv:
      program === null
        ? ['--import', fileURLToPath(new URL('../../service/launch/typescript.mjs', import.meta.url))]
        : [],
  })
  const dead = new Promise<string | null>((resolve) => {
    child.once('exit', (_code, signal) => {
      resolve(signal)
    })
  })
  child.send(order)
  const ready = Promise.race([once(child, 'message').then(() => undefined), dead.then(() => undefined)])
  return { child, ready, dead }
}

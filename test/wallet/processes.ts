import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { bundled } from '../harness/process.ts'
import type { Order } from './child/worker.ts'

const WORKER = fileURLToPath(new URL('./child/worker.ts', import.meta.url))

/** A process of the service; it reports when it is ready, and dies on command or by itself. */
export function startWorker(order: Order): {
  child: ChildProcess
  ready: Promise<void>
  dead: Promise<string | null>
} {
  const child = fork(bundled(WORKER))
  const dead = new Promise<string | null>((resolve) => {
    child.once('exit', (_code, signal) => {
      resolve(signal)
    })
  })
  child.send(order)
  const ready = Promise.race([once(child, 'message').then(() => undefined), dead.then(() => undefined)])
  return { child, ready, dead }
}

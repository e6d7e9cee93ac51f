import type { Worker } from 'node:worker_threads'
import { startThread, type Job, type Result } from './worker.ts'

/** `late`: it ran past its time. `crashed`: it took its thread's memory. */
export type Outcome =
  | Omit<Extract<Result, { result: unknown }>, 'id'>
  | Omit<Extract<Result, { fault: unknown }>, 'id'>
  | 'late'
  | 'crashed'

/** A few threads, started when they are first needed; one job each at a time, the others wait in line. */
export function createThreads({ threads, limitMs }: { threads: number; limitMs: number }) {
  const idle: Thread[] = []
  const all = new Set<Thread>()
  const waiting: Waiting[] = []
  let count = 0
  let closed = false

  function next(): void {
    const first = waiting[0]
    if (first === undefined) return
    const thread = idle.pop() ?? (all.size < threads ? start() : undefined)
    if (thread === undefined) return
    waiting.shift()
    begin(thread, first)
  }

  function start(): Thread {
    const worker = startThread()
    // It must not keep a process alive that has nothing else to do.
    worker.unref()
    const thread: Thread = { worker, ready: false, current: null, timer: null }
    all.add(thread)
    worker.on('message', (message: Result | 'ready') => {
      if (message === 'ready') {
        thread.ready = true
        arm(thread)
      } else end(thread, message)
    })
    worker.on('error', () => lose(thread, 'crashed'))
    worker.on('exit', () => lose(thread, 'crashed'))
    return thread
  }

  function begin(thread: Thread, job: Waiting): void {
    thread.current = job
    thread.worker.postMessage({ ...job.job, id: ++count } satisfies Job)
    if (thread.ready) arm(thread)
  }

  /** A job's time begins when its thread can run it. */
  function arm(thread: Thread): void {
    if (thread.current === null) return
    thread.timer = setTimeout(() => lose(thread, 'late'), limitMs)
  }

  function end(thread: Thread, { id: _id, ...outcome }: Result): void {
    // Its last word, after it was given up.
    if (!all.has(thread)) return
    if (thread.timer !== null) clearTimeout(thread.timer)
    thread.current?.resolve(outcome)
    thread.current = null
    idle.push(thread)
    next()
  }

  function lose(thread: Thread, why: 'late' | 'crashed'): void {
    if (!all.delete(thread)) return
    if (thread.timer !== null) clearTimeout(thread.timer)
    const place = idle.indexOf(thread)
    if (place >= 0) idle.splice(place, 1)
    void thread.worker.terminate()
    thread.current?.resolve(why)
    thread.current = null
    next()
  }

  return {
    run(job: Omit<Job, 'id'>): Promise<Outcome> {
      if (closed) return Promise.resolve('crashed')
      return new Promise((resolve) => {
        waiting.push({ job, resolve })
        next()
      })
    },

    async close(): Promise<void> {
      closed = true
      for (const { resolve } of waiting.splice(0)) resolve('crashed')
      const workers = [...all].map(({ worker }) => worker)
      for (const thread of [...all]) lose(thread, 'crashed')
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

interface Thread {
  worker: Worker
  ready: boolean
  current: Waiting | null
  timer: NodeJS.Timeout | null
}

interface Waiting {
  job: Omit<Job, 'id'>
  resolve(outcome: Outcome): void
}

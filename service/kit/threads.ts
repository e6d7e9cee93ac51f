import type { Worker } from 'node:worker_threads'
import { FairLine } from './fair-line.ts'

/**
 * `late`: it ran past its time. `crashed`: it took its thread's memory. `crowded`: its account has too many waiting. `unwanted`: it
 * was not begun when its turn came.
 */
export type Outcome<Result> = Result | 'late' | 'crashed' | 'crowded' | 'unwanted'

/**
 * A few threads, started when they are first needed; one job each at a time, the others wait in line by turns. A thread
 * says `ready` once, and answers each job with a message that has its id.
 */
export function createThreads<Result extends object>(options: ThreadsOptions) {
  const { startThread, threads, limitMs, perAccount, waitingMax } = options
  type Waiting = WaitingOf<Result>
  type Running = Waiting & { account: string }
  interface Thread {
    worker: Worker
    ready: boolean
    current: Running | null
    timer: NodeJS.Timeout | null
  }
  const idle: Thread[] = []
  const all = new Set<Thread>()
  const line = new FairLine<Waiting>({ perAccount, waitingMax })
  let count = 0
  let closed = false

  function next(): void {
    while (idle.length > 0 || all.size < threads) {
      const first = line.next()
      if (first === undefined) return
      const { account, item } = first
      if (item.turn.isWanted?.() !== false) return begin(idle.pop() ?? start(), { ...item, account })
      line.leave(account)
      item.resolve('unwanted')
    }
  }

  function start(): Thread {
    const worker = startThread()
    // It must not keep a process alive that has nothing else to do.
    worker.unref()
    const thread: Thread = { worker, ready: false, current: null, timer: null }
    all.add(thread)
    worker.on('message', (message: (Result & { id: number }) | 'ready') => {
      if (message === 'ready') {
        thread.ready = true
        arm(thread)
      } else end(thread, message)
    })
    worker.on('error', () => lose(thread, 'crashed'))
    worker.on('exit', () => lose(thread, 'crashed'))
    return thread
  }

  function begin(thread: Thread, job: Running): void {
    thread.current = job
    thread.worker.postMessage({ ...job.job, id: ++count })
    if (thread.ready) arm(thread)
  }

  /** A job's time begins when its thread can run it. */
  function arm(thread: Thread): void {
    if (thread.current === null) return
    thread.timer = setTimeout(() => lose(thread, 'late'), limitMs)
  }

  function end(thread: Thread, { id: _id, ...outcome }: Result & { id: number }): void {
    // Its last word, after it was given up.
    if (!all.has(thread)) return
    if (thread.timer !== null) clearTimeout(thread.timer)
    free(thread, outcome as unknown as Result)
    idle.push(thread)
    next()
  }

  function lose(thread: Thread, why: 'late' | 'crashed'): void {
    if (!all.delete(thread)) return
    if (thread.timer !== null) clearTimeout(thread.timer)
    const place = idle.indexOf(thread)
    if (place >= 0) idle.splice(place, 1)
    void thread.worker.terminate()
    free(thread, why)
    next()
  }

  function free(thread: Thread, outcome: Outcome<Result>): void {
    const { current } = thread
    thread.current = null
    if (current === null) return
    line.leave(current.account)
    if (outcome === 'late') current.turn.late?.()
    current.resolve(outcome)
  }

  return {
    run(job: object, account: string, turn: Turn = {}): Promise<Outcome<Result>> {
      if (closed) return Promise.resolve('crashed')
      return new Promise((resolve) => {
        if (line.join(account, { job, turn, resolve })) next()
        else resolve('crowded')
      })
    },

    async close(): Promise<void> {
      closed = true
      for (const { resolve } of line.dissolve()) resolve('crashed')
      const workers = [...all].map(({ worker }) => worker)
      for (const thread of [...all]) lose(thread, 'crashed')
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

interface ThreadsOptions {
  startThread(): Worker
  threads: number
  limitMs: number
  /** Jobs of one account that run at once. */
  perAccount: number
  /** Jobs of one account that wait. */
  waitingMax: number
}

/** Both are called at once, before another job of the same account begins. */
export interface Turn {
  /** Whether it is still to be run, now that its turn has come. */
  isWanted?(): boolean
  /** It ran past its time. */
  late?(): void
}

interface WaitingOf<Result> {
  job: object
  turn: Turn
  resolve(outcome: Outcome<Result>): void
}

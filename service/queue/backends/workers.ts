/**
 * The workers of a process. BullMQ pauses after a refused connection, but after no other failure: when work was
 * waiting, each worker asked a starting PostgreSQL more than a hundred times a second. So here a worker that meets an
 * error stops fetching for a moment. Jobs that it already has continue.
 */
export class Workers {
  private readonly hired: Hireable[] = []
  private readonly complain: (error: Error) => void
  private readonly connected: () => boolean
  private retired = false

  constructor(complain: (error: Error) => void, connected: () => boolean) {
    this.complain = complain
    this.connected = connected
  }

  /**
   * Runs the worker once it is ready. A worker whose server never answered would look for jobs without a pause, and
   * block everything else in the process.
   */
  async hire(worker: Hireable): Promise<void> {
    this.hired.push(worker)
    worker.on('error', this.complain)
    await worker.waitUntilReady()
    if (this.retired) return
    this.restAfterErrors(worker)
    worker.run().catch(this.complain)
  }

  async pause(): Promise<void> {
    this.retired = true
    await Promise.all(this.hired.map((worker) => worker.pause(true)))
  }

  async close(force?: boolean): Promise<void> {
    this.retired = true
    await Promise.all(this.hired.map((worker) => worker.close(force)))
  }

  private restAfterErrors(worker: Hireable): void {
    let resting = false
    worker.on('error', () => {
      // Without a connection its requests already wait for one, and each pause would add to them.
      if (resting || this.retired || !this.connected()) return
      resting = true
      worker.pause(true).catch(this.complain)
      setTimeout(() => {
        resting = false
        if (!this.retired) worker.resume()
      }, REST_MS).unref()
    })
  }
}

interface Hireable {
  on(event: 'error', listener: (error: Error) => void): unknown
  waitUntilReady(): Promise<unknown>
  run(): Promise<void>
  pause(doNotWaitActive: boolean): Promise<void>
  resume(): unknown
  close(force?: boolean): Promise<void>
}

const REST_MS = 250

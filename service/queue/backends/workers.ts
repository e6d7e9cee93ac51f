/**
 * The workers of a process. BullMQ takes a breath after a refused connection, and after no other failure: with work
 * waiting, each worker asked a PostgreSQL that was starting more than a hundred times a second. So here one that meets
 * an error fetches nothing for a moment; what it has goes on.
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
   * Runs it once it is ready: one whose server never answered would look for jobs without any breath, and nothing else
   * in the process would have its turn.
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
      // Without a connection its questions wait for one by themselves, and each rest would add to what waits.
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

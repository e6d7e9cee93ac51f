/**
 * The queues by topic, each opened at its first push. BullMQ checks a queue's server once and keeps the result for
 * good, also a failure: a queue that was opened during an outage refused every job until the process ended. So only
 * queues that have become ready are kept.
 */
export class Queues<Opened extends Openable> {
  private readonly opened = new Map<string, Promise<Opened>>()
  private readonly open: (topic: string) => Opened

  constructor(open: (topic: string) => Opened) {
    this.open = open
  }

  of(topic: string): Promise<Opened> {
    const known = this.opened.get(topic)
    if (known !== undefined) return known
    const opening = this.ready(topic)
    this.opened.set(topic, opening)
    return opening
  }

  async close(): Promise<void> {
    const queues = await Promise.allSettled(this.opened.values())
    await Promise.all(queues.map(async (queue) => queue.status === 'fulfilled' && queue.value.close()))
  }

  private async ready(topic: string): Promise<Opened> {
    const queue = this.open(topic)
    try {
      await queue.waitUntilReady()
      return queue
    } catch (error) {
      this.opened.delete(topic)
      await queue.close()
      throw error
    }
  }
}

interface Openable {
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
}

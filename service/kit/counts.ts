import type { Log } from './log.ts'

/**
 * Counts in memory what is too frequent for a statement each, and writes the counts together when `flush` is called: a
 * crash loses what was counted since then.
 */
export class Counts<Key extends readonly string[]> {
  private counts = new Map<string, Count<Key>>()
  private writing: Promise<void> | null = null
  private readonly write: (rows: readonly Count<Key>[]) => Promise<void>
  private readonly log: Log
  /** What is counted, for the log. */
  private readonly of: string

  constructor({ write, log, of }: { write: (rows: readonly Count<Key>[]) => Promise<void>; log: Log; of: string }) {
    this.write = write
    this.log = log
    this.of = of
  }

  add(key: Key, count = 1): void {
    const text = JSON.stringify(key)
    const known = this.counts.get(text)
    if (known !== undefined) known.count += count
    else if (this.counts.size < DISTINCT_MAX) this.counts.set(text, { key, count })
  }

  /** When this resolves, all counts so far are written, or wait for the next time because that failed. */
  async flush(): Promise<void> {
    await this.writing
    await (this.writing = this.writeAll().finally(() => (this.writing = null)))
  }

  private async writeAll(): Promise<void> {
    if (this.counts.size === 0) return
    const rows = [...this.counts.values()]
    this.counts = new Map()
    try {
      await this.write(rows)
    } catch (error) {
      const about = { err: error, rows: rows.length }
      this.log.warn(about, `counts of ${this.of} could not be written; they are written with the next batch`)
      for (const { key, count } of rows) this.add(key, count)
    }
  }
}

export interface Count<Key extends readonly string[]> {
  key: Key
  count: number
}

/** A limit, so that a long outage of the database does not fill the memory. */
const DISTINCT_MAX = 10_000

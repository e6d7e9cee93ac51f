import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Life } from './driver.ts'

/** Starts the service again and again, on the same database and chain. */
export class Mortal {
  lives = 0
  late = 0
  private child: ChildProcess | null = null
  private origin = ''
  private gone: Promise<unknown> = Promise.resolve()
  private readonly environment: Record<string, string>

  constructor(environment: Record<string, string>) {
    this.environment = environment
  }

  async live(dieAt: Life['dieAt']): Promise<void> {
    const life: Life = { environment: this.environment, dieAt, aheadMs: this.lives++ * 15_000 }
    const driver = path.join(import.meta.dirname, 'driver.ts')
    const child = spawn(
      process.execPath,
      ['--import', './service/launch/typescript.mjs', driver, JSON.stringify(life)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    this.child = child
    this.gone = once(child, 'exit')
    for await (const line of createInterface({ input: child.stdout })) {
      this.origin = `http://127.0.0.1:${line}`
      return
    }
    throw new Error('the service did not start')
  }

  kill(): void {
    this.child?.kill('SIGKILL')
  }

  /** Resolves once the process is dead, whether it killed itself or was killed. */
  async died(): Promise<void> {
    await this.gone
  }

  /** A step that is never reached would make its round wait for ever; this fails with an error instead. */
  async diedWithin(ms: number): Promise<void> {
    const late = setTimeout(() => {
      this.kill()
      this.late++
    }, ms)
    await this.died()
    clearTimeout(late)
  }

  /** Null when the connection broke: the outcome is unknown then. */
  async call(method: string, where: string, body?: unknown, key?: string): Promise<Answer | null> {
    try {
      const response = await fetch(this.origin + where, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    } catch {
      return null
    }
  }
}

export interface Answer {
  status: number
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test looks into answers field by field
  body: any
}

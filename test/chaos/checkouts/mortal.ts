import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { createInterface } from 'node:readline'
import type { Life } from './driver.ts'

/** Starts the service again and again, on the same database and chain. */
export class Mortal {
  late = 0
  private aheadMs = -PASSED_MS
  private child: Body | null = null
  /** Is connected to the database, and waits for its life. */
  private next: Body
  origin = ''
  private exited: Promise<unknown> = Promise.resolve()
  private readonly program: string
  private readonly environment: Record<string, string>

  constructor(program: string, environment: Record<string, string>) {
    this.program = program
    this.environment = environment
    this.next = born(program, environment)
  }

  /** By its clock so much time has passed since the life before began. */
  async live(dieAt: Life['dieAt'], passedMs = PASSED_MS): Promise<void> {
    const life: Life = { dieAt, aheadMs: (this.aheadMs += passedMs) }
    const child = this.next
    this.next = born(this.program, this.environment)
    child.stdin.end(`${JSON.stringify(life)}\n`)
    this.child = child
    this.exited = once(child, 'exit')
    for await (const line of createInterface({ input: child.stdout })) {
      this.origin = `http://127.0.0.1:${line}`
      return
    }
    throw new Error('the service did not start')
  }

  kill(): void {
    this.child?.kill('SIGKILL')
  }

  close(): void {
    this.kill()
    this.next.kill('SIGKILL')
  }

  /** Resolves once the process is dead, whether it killed itself or was killed. */
  async died(): Promise<void> {
    await this.exited
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
  async call(
    method: string,
    where: string,
    body?: unknown,
    key?: string,
    headers: Record<string, string> = {},
  ): Promise<Answer | null> {
    try {
      const response = await fetch(this.origin + where, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? null : JSON.parse(text) }
    } catch {
      return null
    }
  }
}

/** Leases of payments and of the sweepers are over by then. */
const PASSED_MS = 15_000

type Body = ChildProcessByStdio<Writable, Readable, null>

function born(program: string, environment: Record<string, string>): Body {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.write(`${JSON.stringify(environment)}\n`)
  return child
}

export interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into answers field by field
  body: any
}

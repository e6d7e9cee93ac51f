import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import path from 'node:path'
import { Agent, request } from 'undici'
import type { Command } from './commands.ts'

/** A driver that can be killed and restarted; its callers repeat their commands. */
export class Mortal {
  kills = 0
  /** Commands that were cut off, and repeated to the next process. */
  repeated = 0
  private readonly where: string
  private child: ChildProcess | null = null
  private port: Promise<number>
  private readonly agent = new Agent({ connections: 64, headersTimeout: 20_000 })

  constructor(where: string) {
    this.where = where
    this.port = this.start()
  }

  async killAndRestart(): Promise<void> {
    await this.port
    const { child } = this
    if (child === null) throw new Error('there is nothing to kill')
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    this.kills++
    this.port = exited.then(() => this.start())
    await this.port
  }

  async end(): Promise<void> {
    await this.port
    this.child?.kill('SIGTERM')
    await this.agent.close()
  }

  /** Repeats the command until it is acknowledged. Returns the code of a refusal, or null. */
  async send(command: Command): Promise<string | null> {
    for (let first = true; ; first = false) {
      if (!first) this.repeated++
      const port = await this.port
      try {
        const { statusCode, body } = await request(`http://127.0.0.1:${String(port)}/`, {
          method: 'POST',
          body: JSON.stringify(command),
          dispatcher: this.agent,
        })
        const reply = (await body.json()) as { code?: string; error?: string }
        if (statusCode === 200) return null
        if (statusCode === 409) return reply.code ?? 'refused'
      } catch {
        // Cut off: it is unknown whether the command was carried out.
      }
    }
  }

  private async start(): Promise<number> {
    const child = spawn(
      process.execPath,
      ['--import', './service/launch/typescript.mjs', path.join(import.meta.dirname, 'driver.ts'), this.where],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    this.child = child
    for await (const line of createInterface({ input: child.stdout })) return Number(line)
    throw new Error('the driver did not start')
  }
}

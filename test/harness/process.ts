import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** The service as operators run it, in a process of its own, with all its output. */
export class ServiceProcess {
  said = ''
  private readonly child: ChildProcess
  private readonly listeners = new Set<() => void>()
  private code: number | null | undefined

  /** Runs from the current sources; `built` starts faster, but needs a build first. */
  constructor(environment: Readonly<Record<string, string>>, built = false, source = 'service/main.ts') {
    const program = built
      ? ['--enable-source-maps', 'service/dist/main.js']
      : ['--import', './service/launch/typescript.mjs', source]
    this.child = spawn(process.execPath, program, {
      stdio: ['ignore', 'pipe', 'pipe'],
      // No load balancer has to notice the shutdown, unless a test is about that.
      env: { PATH: process.env['PATH'] ?? '', DRAIN_MS: '0', ...environment },
    })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.said += chunk.toString()
        for (const listener of this.listeners) listener()
      })
    }
    this.child.once('exit', (code) => {
      this.code = code
      for (const listener of this.listeners) listener()
    })
  }

  /** Resolves when the output contains this; rejects with all the output if the process ends first. */
  async says(words: string | RegExp): Promise<string> {
    const heard = (): boolean => (typeof words === 'string' ? this.said.includes(words) : words.test(this.said))
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (heard()) resolve()
        else if (this.code !== undefined) reject(new Error(`it ended (${String(this.code)}) and said:\n${this.said}`))
        else return
        this.listeners.delete(look)
      }
      this.listeners.add(look)
      look()
    })
    return this.said
  }

  get pid(): number | null {
    return this.child.pid ?? null
  }

  get hasEnded(): boolean {
    return this.code !== undefined
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  async ended(): Promise<number | null> {
    if (this.code === undefined) await once(this.child, 'exit')
    return this.code ?? null
  }
}

import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { withoutTools } from './live.ts'

/** The service as operators run it, in a process of its own, with all its output. */
export class ServiceProcess {
  output = ''
  private readonly child: ChildProcess
  private readonly listeners = new Set<() => void>()
  private code: number | null | undefined

  /** Runs the built service, as operators do, or a program of the tests from its source. */
  constructor(environment: Readonly<Record<string, string>>, source?: string) {
    const program =
      source === undefined ? ['service/dist/main.js'] : ['--import', './service/launch/typescript.mjs', source]
    this.child = spawn(process.execPath, ['--enable-source-maps', ...program], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // No load balancer has to notice the shutdown, unless a test is about that.
      env: { PATH: process.env['PATH'] ?? '', DRAIN_MS: '0', ...withoutTools(environment), ...environment },
    })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString()
        for (const listener of this.listeners) listener()
      })
    }
    this.child.once('exit', (code) => {
      this.code = code
      for (const listener of this.listeners) listener()
    })
  }

  /** Resolves when the output contains this; rejects with all the output if the process ends first. */
  async waitFor(words: string | RegExp): Promise<string> {
    const isPrinted = (): boolean => (typeof words === 'string' ? this.output.includes(words) : words.test(this.output))
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (isPrinted()) resolve()
        else if (this.code !== undefined) reject(new Error(`it ended (${String(this.code)}) and said:\n${this.output}`))
        else return
        this.listeners.delete(look)
      }
      this.listeners.add(look)
      look()
    })
    return this.output
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

/** The Node processes that another one has started, without its database server. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc').flatMap((entry) => {
    const stat = statOf(entry)
    return stat?.parent === parent && stat.name === 'node' ? [Number(entry)] : []
  })
}

export function isAlive(pid: number): boolean {
  return ![undefined, 'Z'].includes(statOf(String(pid))?.state)
}

/** In bytes, of a process and those that it has started. */
export function memoryOf(pid: number): number[] {
  return [pid, ...childrenOf(pid)].map((each) => {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(each)}/status`, 'utf8')) ?? []
    return Number(kilobytes ?? 0) * 1024
  })
}

function statOf(entry: string): { name: string; state: string | undefined; parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), state, parent: Number(parent) }
  } catch {
    return null
  }
}

/** A program as one file, which starts four times faster. It is made once for all tests of this process. */
export function bundled(source: string): string {
  const file =
    bundles.get(source) ?? execFileSync(process.execPath, ['test/harness/bundle.mjs', source], { encoding: 'utf8' })
  bundles.set(source, file)
  return file
}

const bundles = new Map<string, string>()

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Holder {
  readonly child: ChildProcess
  readonly url: string
  /** The rows that it was told are committed, so far. */
  readonly acknowledged: number[]
  /** Settles when that many rows are acknowledged. */
  wrote(rows: number): Promise<void>
  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const PROGRAM = fileURLToPath(new URL('child/holder.ts', import.meta.url))
const LOADER = new URL('../../service/launch/typescript.mjs', import.meta.url).href

/** A process of its own that holds the data folder, to be killed in every way. */
export async function startHolder(dataDir: string): Promise<Holder> {
  const child = spawn(process.execPath, ['--import', LOADER, PROGRAM, dataDir], { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text))

  const acknowledged: number[] = []
  const waiting: { rows: number; resolve: () => void }[] = []
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the holder ended early: ${complaint}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('up ')) resolve(line.slice(3))
      else acknowledged.push(Number(line))
      for (const { rows, resolve } of waiting) if (acknowledged.length >= rows) resolve()
    })
  })
  return {
    child,
    url,
    acknowledged,
    wrote: (rows) => new Promise((resolve) => waiting.push({ rows, resolve })),
    ended: async () => {
      const [code, signal] = await ended
      return { code, signal }
    },
  }
}

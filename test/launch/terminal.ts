import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** A program in a terminal of its own, as a person sees it: `script` of util-linux makes the terminal. */
export class Terminal {
  /** Everything that was on the screen, with what was typed. */
  screen = ''
  private read = 0
  private readonly child: ChildProcess
  private code: number | null | undefined

  constructor(words: readonly string[], environment: Readonly<Record<string, string>>) {
    const command = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
    this.child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
      env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', SHELL: '/bin/sh', ...environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.screen += text
      this.child.emit('change')
    })
    this.child.once('exit', (code) => {
      this.code = code
      this.child.emit('change')
    })
  }

  /** Waits until this is on the screen, below what was waited for before. Answers what is between. */
  async waitFor(words: string): Promise<string> {
    for (;;) {
      const at = this.screen.indexOf(words, this.read)
      if (at >= 0) {
        const between = this.screen.slice(this.read, at)
        this.read = at + words.length
        return between
      }
      if (this.code !== undefined) throw new Error(`it ended without "${words}":\n${this.screen}`)
      await once(this.child, 'change')
    }
  }

  /** What came below what was waited for. */
  get rest(): string {
    return this.screen.slice(this.read)
  }

  /** Types a line, or a key such as Ctrl-C. */
  types(text: string, { enter = true }: { enter?: boolean } = {}): void {
    this.child.stdin?.write(enter ? `${text}\r` : text)
  }

  async ended(): Promise<number | null> {
    while (this.code === undefined) await once(this.child, 'change')
    return this.code
  }

  /** Ends what a failed test has left. */
  close(): void {
    this.child.kill('SIGKILL')
  }
}

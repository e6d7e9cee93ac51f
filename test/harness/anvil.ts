import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import path from 'node:path'
import { createInterface } from 'node:readline'

/**
 * `automine`: a block for each transaction. `manual`: none until a test mines one. A number: one every so many seconds.
 */
export type Mining = 'automine' | 'manual' | number

export interface Anvil {
  readonly url: string
  /** Sends several calls as one request; returns the results in order. */
  request(...calls: readonly RpcCall[]): Promise<unknown[]>
  /** Ends the process; resolves when it is gone. */
  stop(): Promise<void>
}

export interface RpcCall {
  method: string
  params: readonly unknown[]
}

/**
 * The binary from the platform's own package: the one in `@foundry-rs/anvil` is a script that starts it, which costs a
 * process.
 */
export async function startAnvil(options: {
  chainId: number
  mining: Mining
  port?: number
  hardfork?: string
}): Promise<Anvil> {
  const mining =
    options.mining === 'automine'
      ? []
      : options.mining === 'manual'
        ? ['--no-mining']
        : ['--block-time', String(options.mining)]
  const child = spawn(
    program(),
    [
      ...['--host', '127.0.0.1', '--port', String(options.port ?? 0), '--chain-id', String(options.chainId)],
      ...['--accounts', '0', '--gas-limit', '120000000', '--order', 'fifo', ...mining],
      ...(options.hardfork === undefined ? [] : ['--hardfork', options.hardfork]),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  // Interrupting the tests must not leave a chain running.
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  let output = ''
  child.stderr.on('data', (text: Buffer) => (output += text.toString()))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`anvil ended with ${String(code)}: ${output}`)))
    createInterface(child.stdout).on('line', (line) => {
      const address = /^Listening on (\S+)$/.exec(line)?.[1]
      if (address !== undefined) resolve(`http://${address}`)
    })
  })
  return {
    url,
    request: (...calls) => request(url, calls),
    async stop() {
      process.off('exit', end)
      end()
      await exited
    },
  }
}

async function request(url: string, calls: readonly RpcCall[]): Promise<unknown[]> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))),
  })
  const answers = (await response.json()) as { id: number; result?: unknown; error?: { message: string } }[]
  return calls.map((call, id) => {
    const answer = answers.find((each) => each.id === id)
    if (answer?.error !== undefined) throw new Error(`${call.method}: ${answer.error.message}`)
    return answer?.result
  })
}

function program(): string {
  const system = { linux: 'linux', darwin: 'darwin', win32: 'win32' }[process.platform as string]
  const machine = { x64: 'amd64', arm64: 'arm64' }[process.arch as string]
  const name = `@foundry-rs/anvil-${system ?? process.platform}-${machine ?? process.arch}`
  const main = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
  const folder = path.dirname(createRequire(main).resolve(`${name}/package.json`))
  return path.join(folder, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil')
}

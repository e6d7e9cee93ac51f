import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '../harness/ports.ts'

/** A real Redis for this test alone, in memory only. */
export interface RedisServer {
  url: string
  flush(): Promise<void>
  /** Stops at once and loses all data. */
  kill(): Promise<void>
  /** Restarts empty at the same address. */
  revive(): Promise<void>
  /** Stops responding, without breaking any connection. */
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

export function hasRedis(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0
}

export async function startRedis(): Promise<RedisServer> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'coinslot-redis-'))
  const url = `redis://127.0.0.1:${String(port)}`
  let server = await launch(port, folder)
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const exited = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGKILL')
    await exited
  }
  return {
    url,
    async flush() {
      const client = new Redis(url)
      await client.flushall()
      client.disconnect()
    },
    kill,
    async revive() {
      server = await launch(port, folder)
    },
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async close() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function launch(port: number, folder: string): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  // Interrupting the tests must not leave a server running.
  const end = (): void => void server.kill('SIGKILL')
  process.once('exit', end)
  server.once('exit', () => process.off('exit', end))
  await new Promise<void>((resolve, reject) => {
    server.once('exit', (code) => {
      reject(new Error(`redis-server ended with ${String(code)}`))
    })
    server.stdout.on('data', (text: Buffer) => {
      if (text.includes('Ready to accept connections')) resolve()
    })
  })
  return server
}

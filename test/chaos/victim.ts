import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Agent, request } from 'undici'
import { openDatabase, type Database } from '../../service/database/client.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { ServiceProcess } from '../harness/process.ts'

/** The service as a process of its own, on a database that outlives it: it can be killed and restarted. */
export interface Victim {
  folder: string
  database: Database
  /** The settings that the process is started with; used to start another process beside it. */
  settings: Readonly<Record<string, string>>
  begin(): Promise<void>
  kill(): void
  /** Calls as the demo account; rejects where the process dies meanwhile. */
  call(method: 'GET' | 'POST', at: string, body?: unknown, name?: string): Promise<CallResult>
  close(): Promise<void>
}

interface CallResult {
  status: number
  body: Record<string, unknown>
}

export async function openVictim(options: {
  port: number
  atOnce: number
  settings?: Record<string, string>
}): Promise<Victim> {
  const { port, atOnce } = options
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-chaos-'))
  const agent = new Agent({ connections: atOnce })
  const server = await startEmbedded({ dataDir: path.join(folder, 'database') })
  const database = openDatabase({ url: server.url, poolMax: 2 })
  const settings = {
    DATABASE_URL: server.url,
    DATA_DIR: path.join(folder, 'data'),
    PORT: String(port),
    DEMO_API_KEY: KEY,
    ALLOW_HOSTS: '127.0.0.1',
    RATE_API_PER_MINUTE: '0',
    LOG_LEVEL: 'info',
    ...options.settings,
  }
  let service: ServiceProcess | null = null
  return {
    folder,
    database,
    settings,
    async begin() {
      service = new ServiceProcess(settings)
      await service.waitFor('"ready"')
    },
    kill() {
      service?.kill('SIGKILL')
    },
    async call(method, at, body, name) {
      const answer = await request(`http://127.0.0.1:${String(port)}${at}`, {
        method,
        dispatcher: agent,
        headers: {
          authorization: `Bearer ${KEY}`,
          'content-type': 'application/json',
          ...(name === undefined ? {} : { 'idempotency-key': name }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      })
      return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> }
    },
    async close() {
      service?.kill('SIGTERM')
      await service?.ended()
      await agent.close()
      await database.close()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const KEY = `csk_test_${'c'.repeat(43)}`

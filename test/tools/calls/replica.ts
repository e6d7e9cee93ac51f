import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { compose, type Service } from '../../../service/wiring/compose.ts'
import { readConfig } from '../../../service/config.ts'
import { listen } from '../../../service/api/server.ts'
import { NO_FAILPOINTS, type Failpoints } from '../../../service/kit/failpoints.ts'
import type { TestService } from '../../harness/service.ts'

export interface Replica {
  service: Service
  origin: string
  close(): Promise<void>
  /** Stops a process that hangs: its unfinished work stays as it is. */
  abandon(): Promise<void>
}

/** Acts as one more process, on a service's database and by its clock. */
export async function startReplica(
  of: TestService,
  environment: Record<string, string> = {},
  failpoints: Failpoints = NO_FAILPOINTS,
): Promise<Replica> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coinslot-replica-'))
  const config = readConfig({
    DATA_DIR: dataDir,
    DATABASE_URL: of.testDatabase.url,
    PORT: '0',
    LOG_LEVEL: 'silent',
    ALLOW_HOSTS: '127.0.0.1',
    AUTH_SECRET: SECRET,
    RATE_TOOLS_PER_MINUTE: '0',
    RATE_API_PER_MINUTE: '0',
    TOOL_CALLS_AT_ONCE: '0',
    TOOL_PROVIDER_AT_ONCE: '1000',
    ...environment,
  })
  const log = pino({ level: 'silent' })
  const service = await compose(config, { url: of.testDatabase.url, log, clock: of.clock, failpoints })
  const server = await listen(service.app, 0, '127.0.0.1')
  return {
    service,
    origin: `http://127.0.0.1:${String(server.port)}`,
    async close() {
      await server.drain(100)
      await service.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
    async abandon() {
      await server.drain(0)
      await service.database.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** The secret that several processes of one service share. */
export const SECRET = 'the-secret-of-several-processes-of-one-service'

/** Hangs there for ever, as a killed process does. */
export function dyingAt(point: string): { failpoints: Failpoints; reached: Promise<void> } {
  let resolveReached: () => void = () => undefined
  const reached = new Promise<void>((resolve) => (resolveReached = resolve))
  return {
    reached,
    failpoints: {
      async reach(at) {
        if (at !== point) return
        resolveReached()
        await new Promise(() => undefined)
      },
    },
  }
}

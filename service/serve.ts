import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { compose, type Service } from './wiring/compose.ts'
import { agreeOnSecrets } from './wiring/secret-consistency.ts'
import { secretsOf, type Config } from './config.ts'
import { startEmbedded } from './database/embedded/database.ts'
import { migrateFor } from './database/migrate.ts'
import { createLog } from './api/log.ts'
import { listen, sharedAddresses } from './api/server.ts'
import { greeting } from './greeting.ts'
import { tellFaults } from './cli/checks/all.ts'
import type { Log } from './kit/log.ts'
import type { Member } from './processes/member.ts'

/** The whole of a process: configuration, database, service, socket; and the way back in the same order. */
export async function serve(config: Config, member: Member | null): Promise<void> {
  const log = createLog(config.LOG_LEVEL, secretsOf(config))
  const undo: (() => Promise<void>)[] = []
  // How long a balancer has to see that this process leaves, before the sockets close.
  let noticeMs = 0
  const stop = once(async () => {
    for (const step of undo.reverse()) await step()
  })
  // From the very first: whoever stops a start half-way must not leave a database server behind.
  onStop(member, (reason, notice) => {
    log.info({ signal: reason }, 'stopping')
    if (notice) noticeMs = config.DRAIN_MS
    void stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'could not stop in order')
        process.exit(1)
      },
    )
  })
  try {
    const url = config.DATABASE_URL ?? (await embedded(config, log, undo))
    const applied = await migrateFor(url, config)
    if (applied.length > 0) log.info({ applied }, 'migrations applied')
    const service = await compose(config, { url, log, others: member?.others ?? null })
    undo.push(() => service.stop())
    const secretConsistency = await agreeOnSecrets(config, service.database, log)
    undo.push(() => Promise.resolve(secretConsistency.end()))
    const port = member?.listens === false ? null : await open(service, { config, undo, notice: () => noticeMs })
    const demoKey = config.LIVE ? null : await service.identity.ensureDemoAccount({ apiKey: config.DEMO_API_KEY })
    await service.start()
    await ready(service)
    log.info({ port, roles: config.ROLES, host: hostname() }, 'ready')
    const shown = demoKey ?? config.DEMO_API_KEY ?? null
    if (member !== null) member.ready(port, shown)
    else if (!config.LIVE && port !== null) process.stdout.write(greeting(config, port, shown))
    if (config.LIVE && member === null) tellFaults(config)
  } catch (error) {
    await stop()
    throw error
  }
}

/** Whoever is told that it runs sends the first request at once. A process that is stopped meanwhile is not waited for. */
async function ready(service: Service): Promise<void> {
  for (;;) {
    const missing = await service.waitsFor()
    if (missing === null || missing === 'draining') return
    await wait(READY_LOOK_MS)
  }
}

const READY_LOOK_MS = 50

interface Opening {
  config: Config
  undo: (() => Promise<void>)[]
  notice: () => number
}

async function open(service: Service, { config, undo, notice }: Opening): Promise<number> {
  const server = await listen(service.app, config.PORT, config.HOST, {
    connectionsPerAddress: config.QUOTA_CONNECTIONS_PER_ADDRESS,
    shared: sharedAddresses(service.app),
  })
  undo.push(() => server.drain(DRAIN_DEADLINE_MS - notice()))
  undo.push(async () => {
    service.startDraining()
    await wait(notice())
  })
  return server.port
}

/** By a signal, or where several processes share a port, by the word of the one that started them. */
function onStop(member: Member | null, stop: (reason: string, notice: boolean) => void): void {
  if (member !== null) {
    // Ctrl-C reaches every process of the terminal; the first one tells the others.
    process.on('SIGINT', () => undefined)
    member.onStop((notice) => {
      stop('told to', notice)
    })
  }
  for (const signal of member === null ? (['SIGTERM', 'SIGINT'] as const) : (['SIGTERM'] as const)) {
    process.once(signal, () => {
      // Whoever presses Ctrl-C twice does not want to wait; the database server's watchdog ends it in order.
      process.once(signal, () => process.exit(130))
      // Ctrl-C is a person's, who has no balancer.
      stop(signal, signal === 'SIGTERM')
    })
  }
}

/** From the signal on; the rest of 30 seconds is for what comes after. */
const DRAIN_DEADLINE_MS = 20_000

async function embedded(config: Config, log: Log, undo: (() => Promise<void>)[]): Promise<string> {
  const server = await startEmbedded({ dataDir: config.DATA_DIR, log })
  undo.push(() => server.stop())
  return server.url
}

function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  return () => (running ??= work())
}

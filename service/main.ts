import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { compose } from './compose.ts'
import { agreeOnSecrets } from './platform/secret-consistency.ts'
import { ConfigError, readConfig, secretsOf, type Config } from './config.ts'
import { startEmbedded } from './database/embedded/database.ts'
import { migrate } from './database/migrate.ts'
import { createLog } from './api/log.ts'
import { listen, sharedAddresses } from './api/server.ts'
import { greeting } from './greeting.ts'
import type { Log } from './kit/log.ts'

/** The whole of a process: configuration, database, service, socket; and the way back in the same order. */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  const log = createLog(config.LOG_LEVEL, secretsOf(config))
  const undo: (() => Promise<void>)[] = []
  const stop = once(async () => {
    for (const step of undo.reverse()) await step()
  })
  // How long a balancer has to see that this process leaves, before the sockets close.
  let noticeMs = 0
  // From the very first: whoever stops a start half-way must not leave a database server behind.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      // Whoever presses Ctrl-C twice does not want to wait; the database server's watchdog ends it in order.
      process.once(signal, () => process.exit(130))
      log.info({ signal }, 'stopping')
      // Ctrl-C is a person's, who has no balancer.
      if (signal === 'SIGTERM') noticeMs = config.DRAIN_MS
      void stop().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'could not stop in order')
          process.exit(1)
        },
      )
    })
  }
  try {
    const url = config.DATABASE_URL ?? (await embedded(config, log, undo))
    const applied = await migrate(url)
    if (applied.length > 0) log.info({ applied }, 'migrations applied')
    const service = await compose(config, { url, log })
    undo.push(() => service.stop())
    const secretConsistency = await agreeOnSecrets(config, service.database, log)
    undo.push(() => Promise.resolve(secretConsistency.end()))
    const server = await listen(service.app, config.PORT, config.HOST, {
      connectionsPerAddress: config.QUOTA_CONNECTIONS_PER_ADDRESS,
      shared: sharedAddresses(service.app),
    })
    undo.push(() => server.drain(DRAIN_DEADLINE_MS - noticeMs))
    undo.push(async () => {
      service.startDraining()
      await wait(noticeMs)
    })
    const demoKey = config.LIVE ? null : await service.identity.ensureDemoAccount({ apiKey: config.DEMO_API_KEY })
    await service.start()
    log.info({ port: server.port, roles: config.ROLES, host: hostname() }, 'ready')
    if (!config.LIVE) process.stdout.write(greeting(config, server.port, demoKey ?? config.DEMO_API_KEY ?? null))
  } catch (error) {
    await stop()
    throw error
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

/** Faults of the machine's owner are said in a sentence; anything else with all that is known of it. */
function explain(error: unknown): string {
  if (error instanceof ConfigError)
    return `Coinslot cannot start:\n${error.faults.map((fault) => `  ${fault}`).join('\n')}`
  if (!(error instanceof Error)) return String(error)
  const plain = error.constructor.name !== 'Error' && error.stack !== undefined && error.message.endsWith('.')
  return plain ? error.message : (error.stack ?? error.message)
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`)
  process.exit(1)
})

import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { ConfigError, readConfig } from './config.ts'
import { asMember } from './processes/member.ts'

/** One process, or with `WORKERS` the first of several, which does nothing but start and watch the others. */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  if (cluster.isPrimary) for (const sentence of config.misspelt) process.stderr.write(`${sentence}\n`)
  const processes = config.WORKERS === 'auto' ? availableParallelism() : config.WORKERS
  // Each loads only what it needs: the first of several holds neither catalogue nor pages.
  if (cluster.isPrimary && processes > 1) {
    const { runProcesses } = await import('./processes/primary.ts')
    await runProcesses(config, processes, import.meta.filename)
  } else {
    const member = cluster.isWorker ? await asMember() : null
    const { serve } = await import('./serve.ts')
    await serve(config, member)
  }
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

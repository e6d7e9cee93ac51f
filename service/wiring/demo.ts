import type { Config } from '../config.ts'
import { startDemo, type Demo } from '../demo/server.ts'
import type { Identity } from '../identity/service/identity.ts'
import { seed } from '../marketplace/seed/seed.ts'
import type { Assets } from '../marketplace/service/assets/assets.ts'
import type { Platform } from './platform.ts'

/**
 * The sandbox's first creators: their servers, and their assets. Of several processes of one machine one has the port,
 * and its servers serve them all; when it ends another has it.
 */
export function openDemo({ config, clock, log }: Platform, identity: Identity, assets: Assets) {
  const port = config.DEMO_PORT
  let demo: Demo | null = null
  let retry: NodeJS.Timeout | null = null
  let stopped = false

  async function serve(): Promise<void> {
    try {
      demo = await startDemo(port)
      if (stopped) await demo.stop()
    } catch (error) {
      if (retry === null) {
        log.info({ port, reason: (error as Error).message }, 'the demo creators do not run in this process')
      }
      if (!stopped) retry = setTimeout(() => void serve(), RETRY_MS).unref()
    }
  }

  return {
    async start(): Promise<void> {
      if (port === 0) return
      // In each process that may call them: it may be on a machine without the others.
      if (CALLING.some((role) => config.ROLES.includes(role))) await serve()
      if (!config.ROLES.includes('api')) return
      try {
        const signUp = async (...[person]: Parameters<Identity['signUp']>) => (await identity.signUp(person)).user
        await seed({ assets, signUp, clock, demo: `http://127.0.0.1:${String(port)}` })
      } catch (error) {
        // A newcomer without examples is better off than one without a service.
        log.warn({ err: error }, 'the demo RDAs could not be created')
      }
    },
    async stop(): Promise<void> {
      stopped = true
      if (retry !== null) clearTimeout(retry)
      await demo?.stop()
    },
  }
}

const CALLING = ['api', 'tools', 'worker'] as const
const RETRY_MS = 2_000

/** What may be called although it is on this very machine. */
export function demoHosts({ DEMO_PORT: port }: Config): string[] {
  return port === 0 ? [] : [`127.0.0.1:${String(port)}`]
}

import type { Config } from '../config.ts'
import { startDemo, type Demo } from '../demo/server.ts'
import type { Identity } from '../identity/service.ts'
import { seed } from '../marketplace/seed/seed.ts'
import type { Assets } from '../marketplace/service/assets.ts'
import type { Ground } from './ground.ts'

/**
 * The sandbox's first creators: their servers, and their assets. Of several processes of one machine the first has the
 * port, and its servers serve them all.
 */
export function openDemo({ config, clock, log }: Ground, identity: Identity, assets: Assets) {
  let demo: Demo | null = null
  return {
    async start(): Promise<void> {
      const port = config.DEMO_PORT
      if (port === 0 || !config.ROLES.includes('api')) return
      try {
        demo = await startDemo(port)
      } catch (error) {
        log.info({ port, reason: (error as Error).message }, 'the demo creators run elsewhere, or not at all')
      }
      try {
        const signUp = async (...[person]: Parameters<Identity['signUp']>) => (await identity.signUp(person)).user
        await seed({ assets, signUp, clock, demo: `http://127.0.0.1:${String(port)}` })
      } catch (error) {
        // A newcomer without examples is better off than one without a service.
        log.warn({ err: error }, 'the first RDAs could not be put in')
      }
    },
    async stop(): Promise<void> {
      await demo?.stop()
    },
  }
}

/** What may be called although it is on this very machine. */
export function demoHosts({ DEMO_PORT: port }: Config): string[] {
  return port === 0 ? [] : [`127.0.0.1:${String(port)}`]
}

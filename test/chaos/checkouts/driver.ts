import { pino } from 'pino'
import { compose } from '../../../service/compose.ts'
import { readConfig } from '../../../service/config.ts'
import { listen } from '../../../service/api/server.ts'
import { TestClock } from '../../harness/clock.ts'

/*
 * The process that gets killed: the whole service with its worker. It kills itself when payments have reached a step a
 * chosen number of times. No handler runs, nothing is flushed.
 */

export interface Life {
  environment: Record<string, string>
  dieAt: { step: string; pass: number } | null
  /** The dead process's leases are over for this one at once. */
  aheadMs: number
}

const { environment, dieAt, aheadMs } = JSON.parse(process.argv[2] ?? '') as Life
const clock = new TestClock()
clock.forward(aheadMs)
let passes = 0
const config = readConfig(environment)
const service = await compose(config, {
  url: config.DATABASE_URL ?? '',
  log: pino({ level: 'silent' }),
  clock,
  failpoints: {
    reach(step) {
      if (step === dieAt?.step && ++passes === dieAt.pass) process.kill(process.pid, 'SIGKILL')
    },
  },
})
await service.identity.ensureDemoAccount({ apiKey: config.DEMO_API_KEY })
const server = await listen(service.app, 0, '127.0.0.1')
await service.start()
process.stdout.write(`${String(server.port)}\n`)

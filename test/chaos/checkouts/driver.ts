import { createInterface } from 'node:readline'
import { pino } from 'pino'
import { compose } from '../../../service/wiring/compose.ts'
import { readConfig } from '../../../service/config.ts'
import { listen } from '../../../service/api/server.ts'
import { TestClock } from '../../harness/clock.ts'

/*
 * The process that gets killed: the whole service with its worker. It kills itself when payments have reached a step a
 * chosen number of times. No handler runs, nothing is flushed.
 */

export interface Life {
  dieAt: { step: string; pass: number } | null
  /** The dead process's leases are over for this one at once. */
  aheadMs: number
}

// Two lines: the environment, and once the life before has ended, this one's.
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const config = readConfig(JSON.parse((await lines.next()).value as string) as Record<string, string>)
const clock = new TestClock()
let dieAt: Life['dieAt'] = null
let passes = 0
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
const { value, done } = await lines.next()
// Its test ended without a life for it.
if (done === true) process.exit()
const life = JSON.parse(value) as Life
dieAt = life.dieAt
clock.forward(life.aheadMs)
await service.identity.ensureDemoAccount({ apiKey: config.DEMO_API_KEY })
const server = await listen(service.app, 0, '127.0.0.1')
await service.start()
process.stdout.write(`${String(server.port)}\n`)

import { pino } from 'pino'
import { compose } from '../../../service/compose.ts'
import { readConfig } from '../../../service/config.ts'
import { listen } from '../../../service/api/server.ts'
import type { Checkpoint } from '../../../service/facilitator/ports.ts'
import { TestClock } from '../../harness/clock.ts'

/*
 * The process that gets killed: the whole service with its worker, which ends itself the so manieth time that a
 * payment comes to a step. No handler runs, nothing is flushed.
 */

export type SaleStep = 'sale claimed' | 'sale settling' | 'sale settled' | 'sale paid'

export interface Life {
  environment: Record<string, string>
  dieAt: { step: SaleStep | Parameters<Checkpoint>[0]; pass: number } | null
  /** What the dead one held is over for this one at once. */
  aheadMs: number
}

const { environment, dieAt, aheadMs } = JSON.parse(process.argv[2] ?? '') as Life
const clock = new TestClock()
clock.forward(aheadMs)
let passes = 0
const checkpoint = (step: string): void => {
  if (step === dieAt?.step && ++passes === dieAt.pass) process.kill(process.pid, 'SIGKILL')
}
const config = readConfig(environment)
const service = await compose(config, {
  url: config.DATABASE_URL ?? '',
  log: pino({ level: 'silent' }),
  clock,
  checkpoint,
  failpoints: { reach: checkpoint },
})
await service.identity.ensureDemoAccount({ apiKey: config.DEMO_API_KEY })
const server = await listen(service.app, 0, '127.0.0.1')
await service.start()
process.stdout.write(`${String(server.port)}\n`)

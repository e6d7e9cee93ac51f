import { pino } from 'pino'
import { compose } from '../../../service/wiring/compose.ts'
import { readConfig } from '../../../service/config.ts'
import type { Caller } from '../../../service/kit/caller.ts'
import type { Id } from '../../../service/kit/ids.ts'
import { usdc } from '../../../service/kit/money.ts'

/** What to pay, and where to die. */
export interface Order {
  environment: Record<string, string>
  url: string
  /** How far the clock of the process that sends the order is ahead. */
  aheadMs: number
  caller: Caller
  calls: { url: string; operation: Id<'op'> }[]
  /** A state of the payment. */
  dieAt: string
}

/** The whole service, as a worker that pays: no handler runs when it dies, nothing is flushed. */
process.once('message', (order: Order) => {
  void run(order)
})

async function run({ environment, url, aheadMs, caller, calls, dieAt }: Order): Promise<void> {
  const service = await compose(readConfig(environment), {
    url,
    log: pino({ level: process.env['TEST_LOG'] ?? 'silent' }),
    clock: { now: () => new Date(Date.now() + aheadMs) },
    failpoints: {
      reach(name) {
        if (name === `outgoing payment ${dieAt}`) process.kill(process.pid, 'SIGKILL')
      },
    },
  })
  service.facilitator.start()
  await Promise.allSettled(
    calls.map(({ url: address, operation }) => {
      const request = { url: address, method: 'GET', headers: {}, body: null, maxAmount: usdc(1_000_000n) }
      return service.outgoingPayments.pay(caller, request, operation, { keyed: true, background: false })
    }),
  )
  // The sweeper does what is left after the response.
  for (;;) {
    await service.outgoingPayments.reconcile()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

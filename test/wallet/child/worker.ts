import { pino } from 'pino'
import { compose, type Service } from '../../../service/wiring/compose.ts'
import { readConfig } from '../../../service/config.ts'
import type { Caller } from '../../../service/kit/caller.ts'
import type { Id } from '../../../service/kit/ids.ts'
import { usdc } from '../../../service/kit/money.ts'
import { requestOwn, signOwn } from '../../refunds/own.ts'
import type { Hex } from '../../../service/chain/model.ts'

/** The task of a separate process, until it is killed or kills itself. */
export type Order = { environment: Record<string, string>; url: string } & (
  | { work: 'everything' }
  | { work: 'withdraw'; caller: Caller; to: Hex; amount: string; operation: Id<'op'>; dieAt: string }
  | { work: 'refund'; sale: string; operation: Id<'op'>; dieAt: string }
  | { work: 'own-refund'; caller: Caller; sale: string; key: Hex; operation: Id<'op'>; dieAt: string }
)

/** The whole service, as a worker: no handler runs when it dies, nothing is flushed. */
process.once('message', (order: Order) => {
  void run(order)
})
// Without the test that started it, it would run for ever.
process.once('disconnect', () => process.exit())

async function run(order: Order): Promise<void> {
  const service = await compose(readConfig(order.environment), {
    url: order.url,
    log: pino({ level: process.env['TEST_LOG'] ?? 'silent' }),
    // As in the other services of tests.
    pace: { sweepFactor: 0.2 },
    failpoints: {
      reach(at) {
        if (order.work !== 'everything' && at === order.dieAt) process.kill(process.pid, 'SIGKILL')
      },
    },
  })
  if (order.work === 'everything') {
    await service.start()
    process.send?.('ready')
    return
  }
  service.facilitator.start()
  const { id } = await begin(service, order)
  for (;;) {
    if (order.work === 'own-refund') await service.refunds.own.step(id)
    else await service.wallets.payouts.step(id)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function begin(service: Service, order: Exclude<Order, { work: 'everything' }>): Promise<{ id: string }> {
  if (order.work === 'refund') {
    const request = { saleId: order.sale, amount: null, reason: null, by: 'seller', owner: null } as const
    return await service.refunds.request(request, order.operation)
  }
  if (order.work === 'own-refund') {
    const { caller, sale, key, operation } = order
    const { id } = await requestOwn(service, caller, sale, operation)
    await signOwn(service, caller, id, key)
    return { id }
  }
  const { caller, to, amount, operation } = order
  return await service.wallets.withdrawals.withdraw(caller, { to, amount: usdc(BigInt(amount)) }, operation)
}

import { z } from 'zod'
import type { Sweeper, Topic } from '../queue/model.ts'
import type { Wallets } from './service/wallets.ts'
import { WITHDRAWAL_TOPIC } from './service/hold.ts'

/** Starts a new withdrawal immediately. The sweeper handles everything that it waits for afterwards. */
export function walletTopics(wallets: Wallets): Topic[] {
  const payload = z.object({ id: z.string() })
  const topic: Topic<z.infer<typeof payload>> = {
    topic: WITHDRAWAL_TOPIC,
    decode: payload,
    handle: ({ id }) => wallets.payouts.step(id),
    turns: { perAccount: 2 },
    concurrency: 4,
    timeoutMs: 60_000,
  }
  return [topic]
}

export function walletSweepers(wallets: Wallets): Sweeper[] {
  return [
    ...wallets.monitors.map(({ network, turn }) => ({ name: `wallet.monitor ${network}`, everyMs: 2_000, run: turn })),
    ...wallets.collecting.map(({ network, run }) => ({
      name: `wallet.sweep ${network}`,
      everyMs: 60_000,
      run: (_now: Date, signal: AbortSignal) => run(signal),
    })),
    { name: 'wallet.withdrawals', everyMs: 4_000, run: (_now, signal) => wallets.payouts.stepAll(signal) },
    { name: 'wallet.alerts', everyMs: 15_000, run: (_now, signal) => wallets.alerts.lookAtAll(signal) },
    {
      name: 'wallet.reconcile',
      everyMs: 300_000,
      run: async () => {
        await wallets.reconciling.reconcile()
      },
    },
  ]
}

import { openDatabase } from '../../../service/database/client.ts'
import { systemClock } from '../../../service/kit/clock.ts'
import type { BackendAddress } from '../../../service/queue/backends/backend.ts'
import type { Pace } from '../../../service/queue/model.ts'
import { createQueue } from '../../../service/queue/queue.ts'
import { numbers } from '../numbers.ts'
import { quiet } from '../tally.ts'

/** A worker process to be killed: it begins everything, ends the first half, and leads the sweepers. */
process.once('message', (order: { connectionString: string; backend: BackendAddress; pace: Partial<Pace> }) => {
  const { statements } = openDatabase({ url: order.connectionString, poolMax: 4 })
  let begun = 0
  const queue = createQueue({
    statements,
    clock: systemClock,
    log: quiet,
    backend: order.backend,
    pace: order.pace,
    sweepers: [{ name: 'broom', everyMs: 100, run: () => Promise.resolve(void process.send?.({ swept: true })) }],
    topics: [
      numbers(
        async (n) => {
          process.send?.({ begun: n })
          if (++begun > 50) await new Promise(() => undefined)
        },
        { concurrency: 20 },
      ),
    ],
  })
  void queue.start()
})

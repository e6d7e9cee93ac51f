import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import type { Sale, WorkResult } from '../../sales/model.ts'
import type { Holding } from '../../sales/service/hold.ts'

/**
 * Gives back what guests paid for runs that did not succeed. The money is in the guests' wallet still: nothing is taken
 * from the creator.
 */
export function createReturns({ holding, refunds, clock, log }: ReturnsDeps) {
  const failed = (reason: string): WorkResult => ({
    status: 'failed',
    answer: null,
    reason,
    at: clock.now().toISOString(),
  })

  async function refund(sale: Pick<Sale, 'id'>): Promise<void> {
    const request = { saleId: sale.id, amount: null, reason: 'The run failed.', by: 'rule', owner: null } as const
    try {
      // The operation of the sale itself: the rule refunds a payment once.
      await refunds.request(request, deriveId('op', sale.id as Id<'pay'>))
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'conflict') throw error
      log.info({ sale: sale.id, code: error.code }, 'the payment of a failed run could not be refunded by its rule')
    }
  }

  return {
    /** Called by the process that works on the sale. From then on no other run is begun for it. */
    async giveBack(sale: Sale, reason: string): Promise<void> {
      await holding.report(sale.id, failed(reason))
      await refund(sale)
    },

    /** Where the process that would have done it has ended, or the buyer never came back for another run. */
    async sweep(): Promise<void> {
      for (const sale of await holding.undelivered()) {
        try {
          const isOver =
            sale.result !== null || (await holding.giveUpUndelivered(sale.id, failed('Nothing was delivered.')))
          if (isOver) await refund(sale)
        } catch (error) {
          // The others do not wait for this one; the next turn tries it again.
          log.error({ sale: sale.id, err: error }, 'the payment of an undelivered run could not be given back')
        }
      }
    },
  }
}

export type Returns = ReturnType<typeof createReturns>

/** Sends what is left of a payment back to its payer, once for each operation. */
export interface RefundPort {
  request(
    refund: { saleId: string; amount: null; reason: string; by: 'rule'; owner: null },
    operation: Id<'op'>,
  ): Promise<unknown>
}

interface ReturnsDeps {
  holding: Pick<Holding, 'report' | 'undelivered' | 'giveUpUndelivered'>
  refunds: RefundPort
  clock: Clock
  log: Log
}

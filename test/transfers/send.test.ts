import { NETWORKS } from '../../service/chain/networks.ts'
import type { SettleRequester } from '../../service/facilitator/model.ts'
import type { Sending } from '../../service/transfers/model.ts'
import { send, type SendDeps } from '../../service/transfers/service/send.ts'
import { quiet } from '../queue/tally.ts'

describe('how a signed transfer is handed to the facilitator', () => {
  const network = NETWORKS['base-sepolia']
  const address = `0x${'1'.repeat(40)}` as const
  const signed = {
    ...{ from: address, to: address, value: 1n, validAfter: 0n, validBefore: 1n },
    ...({ nonce: `0x${'2'.repeat(64)}`, signature: '0x' } as const),
  }

  async function requesterOf(kind: Sending['kind']): Promise<SettleRequester> {
    const requesters: SettleRequester[] = []
    const facilitator: SendDeps['facilitator'] = {
      settle: async (_, requester) => {
        requesters.push(requester)
        return {
          status: 'pending',
          success: false,
          payer: '',
          txHash: null,
          reason: 'settlement_pending',
          digest: null,
        }
      },
    }
    const deps = { facilitator, log: quiet, measures: { count: () => undefined } }
    expect(await send(deps, { kind, network, signed, operation: 'op_1', waitMs: 0 })).toBeNull()
    return requesters[0]!
  }

  it.each(['withdrawal', 'sweep', 'treasury', 'payment_address_return'] as const)(
    'what a key of ours signed is tried again after the chain refused it: %s',
    async (kind) => {
      expect(await requesterOf(kind)).toMatchObject({ retryFailed: true, ownsResult: true })
    },
  )

  it('what a seller signed is not: moving the money away before each block would cost the sponsor each time', async () => {
    expect(await requesterOf('refund_own')).toMatchObject({ retryFailed: false, ownsResult: true })
  })
})

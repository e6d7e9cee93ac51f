import type { Chain, Hex } from '../../chain/model.ts'
import { transferRequest } from '../../x402/payload.ts'
import type { AddressReturn, PaymentAddress } from '../model.ts'
import { returnOf } from '../rules.ts'
import { endOf } from './buy.ts'
import type { PaymentAddressDeps } from './deps.ts'

/** Carries a return to its end: its terms were stored first, and signed again they are the same. */
export function createSendingBack(deps: PaymentAddressDeps) {
  const { store, facilitator, signer, clock, measures, failpoints, confirmations } = deps

  async function sendBack(chain: Chain, of: PaymentAddress, sent: AddressReturn): Promise<void> {
    if (signer?.account !== of.account) return
    const { nonce, validBefore } = sent
    const became = await endOf(chain, { payer: of.address, nonce, validBefore }, confirmations)
    if (became === 'used') return await end(sent, { state: 'settled', hash: sent.transactionHash })
    if (became === 'over') return await end(sent, { state: 'failed', hash: null })
    const signed = signer.sign({ order: of.index }, chain.network, returnOf(of.address, sent))
    await failpoints.reach('payment address return signed')
    const answer = await facilitator.settle(transferRequest(chain.network, signed), {
      operation: `return ${nonce}`,
      ownsResult: true,
      retryFailed: true,
    })
    if (answer.status === 'settled') await end(sent, { state: 'settled', hash: answer.txHash })
  }

  async function end(sent: AddressReturn, how: { state: 'settled' | 'failed'; hash: Hex | null }): Promise<void> {
    await store.endReturn(sent, { ...how, now: clock.now() })
    measures.count(`payment_address_return_${how.state}`)
  }

  return { sendBack }
}

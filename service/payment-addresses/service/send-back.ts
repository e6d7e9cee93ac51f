import type { Chain, Hex } from '../../chain/model.ts'
import { outcomeOf } from '../../transfers/service/outcome.ts'
import { send } from '../../transfers/service/send.ts'
import type { AddressReturn, PaymentAddress } from '../model.ts'
import { returnOf } from '../rules.ts'
import type { PaymentAddressDeps } from './deps.ts'

/** Carries a return to its end: its terms were stored first, and signed again they are the same. */
export function createSendingBack(deps: PaymentAddressDeps) {
  const { store, signer, clock, measures, failpoints, confirmations } = deps

  async function sendBack(chain: Chain, of: PaymentAddress, sent: AddressReturn): Promise<void> {
    if (signer?.account !== of.account) return
    const authorization = returnOf(of.address, sent)
    const outcome = await outcomeOf(chain, { ...authorization, pays: null, seenBlock: null }, confirmations)
    if (outcome.state === 'used' && outcome.final) await end(sent, { state: 'settled', hash: outcome.use.hash })
    if (outcome.state === 'over' || outcome.state === 'spent') await end(sent, { state: 'failed', hash: null })
    if (outcome.state !== 'open') return
    const signed = signer.sign({ order: of.index }, chain.network, authorization)
    await failpoints.reach('payment address return signed')
    const operation = `return ${sent.nonce}`
    await send(deps, { kind: 'payment_address_return', network: chain.network, signed, operation })
  }

  async function end(sent: AddressReturn, how: { state: 'settled' | 'failed'; hash: Hex | null }): Promise<void> {
    await store.endReturn(sent, { ...how, now: clock.now() })
    measures.count(`payment_address_return_${how.state}`)
  }

  return { sendBack }
}

import type { Chain, Hex } from '../../chain/model.ts'
import type { Outcome } from '../../transfers/model.ts'
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
    const terms = { ...authorization, pays: null, seenBlock: null }
    const outcome = await follow(sent, await outcomeOf(chain, terms, confirmations))
    if (outcome.state !== 'open') return
    const signed = signer.sign({ order: of.index }, chain.network, authorization)
    await failpoints.reach('payment address return signed')
    const operation = `return ${sent.nonce}`
    await send(deps, { kind: 'payment_address_return', network: chain.network, signed, operation })
    await follow(sent, await outcomeOf(chain, terms, confirmations))
  }

  /** What a reorganization takes back is sent again by the facilitator, as long as it is valid. */
  async function follow(sent: AddressReturn, outcome: Outcome): Promise<Outcome> {
    if (outcome.state === 'used') await end(sent, { state: 'settled', hash: outcome.use.hash })
    if (outcome.state === 'over' || outcome.state === 'spent') await end(sent, { state: 'failed', hash: null })
    return outcome
  }

  async function end(sent: AddressReturn, how: { state: 'settled' | 'failed'; hash: Hex | null }): Promise<void> {
    await store.endReturn(sent, { ...how, now: clock.now() })
    measures.count(`payment_address_return_${how.state}`)
  }

  return { sendBack }
}

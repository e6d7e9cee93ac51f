import type { Chain, Hex, SignedAuthorization, Use } from '../../chain/model.ts'
import { NETWORKS, type NetworkName } from '../../chain/networks.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Sale } from '../../sales/model.ts'
import { transferRequest } from '../../x402/payload.ts'
import { sentenceOf } from '../../x402/reasons.ts'
import { chainMissing, notToBeSigned, refundConflict, signatureRefused, signedTooLate, walletShort } from '../errors.ts'
import type { Refund } from '../model.ts'
import { nextLook, ownAuthorization, signBeforeOf } from '../rules.ts'
import { outcomeOf } from '../../transfers/service/outcome.ts'
import { send } from '../../transfers/service/send.ts'
import type { Moving, RefundDeps } from './moving.ts'

/**
 * Refunds from the wallet that received the payment. The seller signs one authorization, whose nonce follows from the
 * refund's id. It is carried out by the facilitator, or by the seller: only the chain decides, by that nonce. A refund
 * fails only when the authorization was used for something else, or can certainly not be used any more.
 */
export function createOwnRefunds(deps: RefundDeps, moving: Moving) {
  const { store, chains, facilitator, clock, log, failpoints } = deps

  /** The newest block, before the refund exists. */
  async function seenBlock(network: NetworkName): Promise<bigint> {
    return (await chainOf(network).head()).number
  }

  function chainOf(network: NetworkName): Chain {
    const chain = chains.get(network)
    if (chain === undefined) throw chainMissing(network)
    return chain
  }

  /**
   * The authorization pays this refund and buys nothing: it is public before it is mined, and the payer may sell something
   * at the same price.
   */
  async function bind(inside: Statements, refund: Refund, sale: Sale): Promise<void> {
    const authorization = { ...ownAuthorization(refund, sale), signature: '0x' as const }
    const network = NETWORKS[sale.network]
    const digest = facilitator.purchases.digestOf({ network, authorization, permit: null })
    if (digest === null) throw new Error(`the authorization of ${refund.id} has no digest`)
    const purchaseId = await facilitator.purchases.claim(inside, { digest, purchaseId: refund.id })
    if (purchaseId !== refund.id) throw refundConflict()
  }

  /** Takes the signature, and has the transfer carried out. The same refund again once it is signed. */
  async function sign(refund: Refund, sale: Sale, signature: Hex): Promise<void> {
    const signBefore = signBeforeOf(refund)
    if (signBefore === null || refund.state === 'failed') throw notToBeSigned()
    if (refund.state !== 'requested') return
    if (clock.now() >= signBefore) throw signedTooLate(signBefore)
    chainOf(sale.network)
    const terms = ownAuthorization(refund, sale)
    const { refusal } = await facilitator.verify(transferRequest(NETWORKS[sale.network], { ...terms, signature }))
    if (refusal !== null) {
      // The seller may have sent it already: then this look finds it.
      await step(refund.id)
      if ((await store.find(refund.id))?.state !== 'requested') return
      if (refusal === 'invalid_exact_evm_insufficient_balance') throw walletShort(refund.amount, terms.from)
      throw signatureRefused(refusal, sentenceOf(refusal), terms.from)
    }
    await moving.locked(refund.id, async (inside) => {
      await store.sign(inside, refund.id, signature, clock.now())
    })
    await failpoints.reach('refund signed')
    try {
      await step(refund.id)
    } catch (error) {
      log.warn({ err: error, refund: refund.id }, 'a signed refund could not be sent yet; retrying')
    }
  }

  /** Asks the chain what became of the authorization, and has it carried out as long as it is signed and unused. */
  async function step(id: string): Promise<void> {
    const found = await moving.read(id)
    if (found?.refund.lookAt == null) return
    const { refund, sale } = found
    const chain = chains.get(sale.network)
    const now = clock.now()
    await store.lookAgain(id, nextLook(refund.sentAt ?? refund.createdAt, now))
    if (chain === undefined || refund.validBefore === null || refund.seenBlock === null) return
    const terms = ownAuthorization(refund, sale)
    const outcome = await outcomeOf(chain, { ...terms, pays: terms, seenBlock: refund.seenBlock }, deps.confirmations)
    switch (outcome.state) {
      case 'open':
        if (refund.signature !== null) await carryOut({ ...terms, signature: refund.signature }, refund, sale)
        return
      case 'used':
        return await recordUse(refund, outcome)
      case 'spent':
        return await fail(refund, 'authorization_canceled')
      case 'over':
        return await fail(refund, 'not_sent')
      case 'ending':
      case 'unclear':
        return
    }
  }

  async function recordUse(refund: Refund, { use, final }: { use: Use; final: boolean }): Promise<void> {
    await moving.locked(refund.id, async (inside, known, sale) => {
      if (known.state === 'requested') await store.sign(inside, known.id, null, clock.now())
      if (final) await moving.end(inside, sale, known, { state: 'confirmed', txHash: use.hash })
    })
    await failpoints.reach('refund followed')
  }

  async function fail({ id }: Refund, failure: string): Promise<void> {
    await moving.locked(id, (inside, known, sale) => moving.end(inside, sale, known, { state: 'failed', failure }))
  }

  async function carryOut(signed: SignedAuthorization, { id }: Refund, { network }: Sale): Promise<void> {
    await send(deps, { kind: 'refund_own', network: NETWORKS[network], signed, operation: id, waitMs: 0 })
    await failpoints.reach('refund settled')
  }

  return { seenBlock, bind, sign, step }
}

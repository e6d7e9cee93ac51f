import type { Address } from '../../chain/model.ts'
import type { Usdc } from '../../kit/money.ts'
import { authorizationUsed } from '../../sales/errors.ts'
import { wasPaid } from '../../sales/model.ts'
import type { Sold } from '../../sales/service/deps.ts'
import { tokenHash } from '../../sales/service/proof.ts'
import type { Selling } from '../../sales/service/sell.ts'
import { badPayment } from '../errors.ts'
import type { Metered, Outcome } from '../model.ts'
import type { Presented } from '../rules/payload.ts'
import { pays, TOO_LITTLE } from '../rules/prepaid.ts'
import type { Call } from './call.ts'
import { TooLittle, type MeteredCalls } from './metered-calls.ts'
import type { Offering } from './offer.ts'
import type { GateDeps } from './deps.ts'
import { signedPrice, type GateAnswer, type PaidCall } from './product.ts'

export interface MeteredCall extends PaidCall {
  pricing: Metered
}

export interface Prepaying {
  /**
   * A call that the payment beside the token has already paid for comes first, then the balance; otherwise the payment
   * makes a new balance.
   */
  byToken(call: MeteredCall, token: string): Promise<Outcome>
  /** If the payer's balance is enough, it pays and nothing is settled: the signature only identifies the payer. */
  bySignature(call: MeteredCall, presented: Presented): Promise<Outcome>
}

/** Measured calls, paid from a prepaid balance. */
export function createPrepaying({ journal, tokens, offering, meteredCalls, sales, finish }: PrepayingDeps): Prepaying {
  async function tooLittle(
    call: Call,
    pricing: Metered,
    { payer, balance, sentence = TOO_LITTLE }: { payer: Address | null; balance: Usdc | null; sentence?: string },
  ): Promise<Outcome> {
    return await offering.refused(call, pricing, { reason: 'insufficient_balance', payer, balance, sentence })
  }

  /** By the payment's token: what it has paid for and was not delivered; null if nothing is owed. */
  async function owed(call: MeteredCall, presented: Presented, token: string): Promise<Outcome | null> {
    const digest = sales.digestOf(presented)
    const known = digest === null ? null : await journal.find(digest)
    if (known === null || !tokens.matches(known.id, known.tokenHash, token)) return null
    if (wasPaid(known) && known.handover !== 'none') return null
    return await finish(call, await sales.replay(call, { known, proven: true }))
  }

  async function bySignature(call: MeteredCall, presented: Presented): Promise<Outcome> {
    const { gate, operation, pricing } = call
    const judged = await sales.judge(call)
    if ('known' in judged) return await finish(call, await sales.replay(call, judged))
    const { payer, digest, terms } = judged
    const left = await journal.left(gate.id, gate.network, payer)
    if (pays(pricing, left)) {
      // The signature is claimed before its use, so it cannot buy a second call, here or elsewhere.
      const { validBefore } = presented.authorization
      if (!(await journal.prove(digest, operation, validBefore))) throw authorizationUsed()
      try {
        return await meteredCalls.call(call, pricing, { payer })
      } catch (error) {
        // Other calls used the balance at the same moment.
        if (!(error instanceof TooLittle)) throw error
        const sentence = 'Other calls have used up your balance. Nothing was charged. Add funds and try again.'
        return await tooLittle(call, pricing, { payer, balance: error.balance, sentence })
      }
    }
    const { part } = signedPrice({ ...call, presented })
    if (part && !pays(pricing, left, terms.amount)) return await tooLittle(call, pricing, { payer, balance: left })
    return await finish(call, await sales.begin(call, judged))
  }

  return {
    async byToken(call, token) {
      const { pricing, presented } = call
      const open = presented === null ? null : await owed(call, presented, token)
      if (open !== null) return open
      try {
        return await meteredCalls.call(call, pricing, { token: tokenHash(token) })
      } catch (error) {
        if (!(error instanceof TooLittle)) throw error
        if (presented !== null) {
          const { payer } = error
          // The payment would go into another balance than the token's.
          if (payer !== null && presented.authorization.from !== payer) {
            throw badPayment(presented.field, "must be signed by the payer who owns the token's balance")
          }
          return await bySignature(call, presented)
        }
        // A client may choose its token before it has paid.
        if (error.balance === null) return await offering.refused(call, pricing, NO_BALANCE)
        return await tooLittle(call, pricing, { payer: error.payer, balance: error.balance })
      }
    },

    bySignature,
  }
}

const NO_BALANCE = {
  reason: 'unknown_token',
  payer: null,
  sentence:
    'This X-Payment-Token has no balance here. Nothing was charged. Pay, and the token works for the balance that you pay into.',
}

interface PrepayingDeps extends GateDeps {
  offering: Offering
  meteredCalls: MeteredCalls
  sales: Selling<PaidCall, GateAnswer> & { digestOf: GateDeps['method']['digestOf'] }
  /** The answer to the buyer. */
  finish(call: PaidCall, sold: Sold<GateAnswer>): Promise<Outcome>
}

import { toDecimal } from '../../kit/money.ts'
import { authorizationUsed, badPayment } from '../errors.ts'
import type { Metered, Outcome } from '../model.ts'
import { TOKEN, tokenHash } from '../rules/payment.ts'
import type { Presented } from '../rules/payload.ts'
import type { Buying } from './buy.ts'
import type { Call } from './call.ts'
import { TooLittle, type Metering } from './metering.ts'
import type { Offering } from './offer.ts'
import type { GateParts } from './parts.ts'

export interface Prepaying {
  byToken(call: Call, pricing: Metered, token: string): Promise<Outcome>
  /** From the payer's balance where it is enough, and then nothing is settled: the signature says who is asking. */
  bySignature(call: Call, pricing: Metered, presented: Presented): Promise<Outcome>
}

/** Measured calls, paid from what was paid in before. */
export function createPrepaying({ books, offering, metering, buying }: PrepayingParts): Prepaying {
  return {
    async byToken(call, pricing, token) {
      if (!TOKEN.test(token)) throw badPayment('x-payment-token', 'must be tok_ and 43 characters')
      try {
        return await metering.call(call, pricing, { token: tokenHash(token) }, [])
      } catch (error) {
        if (!(error instanceof TooLittle)) throw error
        if (error.balance === null) throw badPayment('x-payment-token', 'is not one of this paywall')
        const balance = toDecimal(error.balance)
        return await offering.refused(call, pricing, {
          reason: 'insufficient_balance',
          payer: null,
          sentence: 'What is left of your balance does not pay for this call. Nothing was charged.',
          fields: { balance },
          headers: [['X-Payment-Balance', balance]],
        })
      }
    },

    async bySignature(call, pricing, presented) {
      const judged = await buying.judge(call, pricing, presented)
      if (!('digest' in judged)) return judged
      const { payer, digest } = judged
      const { gate, id } = call
      const left = await books.left(gate.id, gate.network, payer)
      if (left >= pricing.maximum) {
        // Claimed before it is used: the same signature buys no second call, here or elsewhere.
        if (!(await books.prove(digest, id))) throw authorizationUsed()
        try {
          return await metering.call(call, pricing, { payer }, [])
        } catch (error) {
          // Others drew from it in this very moment.
          if (!(error instanceof TooLittle)) throw error
          return await offering.refused(call, pricing, {
            reason: 'insufficient_balance',
            payer,
            sentence: 'Your balance was used up by other calls. Nothing was charged.',
          })
        }
      }
      return await buying.begin(call, pricing, judged)
    },
  }
}

interface PrepayingParts extends GateParts {
  offering: Offering
  metering: Metering
  buying: Buying
}

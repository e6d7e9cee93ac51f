import type { Address } from '../../chain/model.ts'
import type { Usdc } from '../../kit/money.ts'
import { authorizationUsed } from '../../sales/errors.ts'
import { TOKEN, tokenHash } from '../../sales/service/proof.ts'
import { badPayment } from '../errors.ts'
import type { Metered, Outcome } from '../model.ts'
import type { Presented } from '../rules/payload.ts'
import { pays, TOO_LITTLE } from '../rules/prepaid.ts'
import type { Buying } from './buy.ts'
import type { Call } from './call.ts'
import { TooLittle, type Metering } from './metering.ts'
import type { Offering } from './offer.ts'
import type { GateParts } from './parts.ts'

export interface Prepaying {
  /** What the payment beside it still owes comes first; then the balance; then the payment makes a new one. */
  byToken(call: Call, pricing: Metered, token: string, presented: Presented | null): Promise<Outcome>
  /** From the payer's balance where it is enough, and then nothing is settled: the signature says who is asking. */
  bySignature(call: Call, pricing: Metered, presented: Presented): Promise<Outcome>
}

/** Measured calls, paid from what was paid in before. */
export function createPrepaying({ books, offering, metering, buying }: PrepayingParts): Prepaying {
  async function tooLittle(
    call: Call,
    pricing: Metered,
    { payer, balance, sentence = TOO_LITTLE }: { payer: Address | null; balance: Usdc | null; sentence?: string },
  ): Promise<Outcome> {
    return await offering.refused(call, pricing, { reason: 'insufficient_balance', payer, balance, sentence })
  }

  const prepaying: Prepaying = {
    async byToken(call, pricing, token, presented) {
      if (!TOKEN.test(token)) throw badPayment('x-payment-token', 'must be tok_ and 43 characters')
      const owed = presented === null ? null : await buying.owed(call, pricing, presented)
      if (owed !== null) return owed
      try {
        return await metering.call(call, pricing, { token: tokenHash(token) }, [])
      } catch (error) {
        if (!(error instanceof TooLittle)) throw error
        if (presented !== null) {
          const { payer } = error
          // It would be paid into another balance than the one that the token opens.
          if (payer !== null && presented.authorization.from !== payer) {
            throw badPayment(presented.field, "must be signed by the payer of the token's balance")
          }
          return await prepaying.bySignature(call, pricing, presented)
        }
        // A token may be chosen before anything is paid.
        if (error.balance === null) return await offering.refused(call, pricing, NO_BALANCE)
        return await tooLittle(call, pricing, { payer: error.payer, balance: error.balance })
      }
    },

    async bySignature(call, pricing, presented) {
      const judged = await buying.judge(call, pricing, presented)
      if (!('digest' in judged)) return judged
      const { payer, digest } = judged
      const { gate, id } = call
      const left = await books.left(gate.id, gate.network, payer)
      if (pays(pricing, left)) {
        // Claimed before it is used: the same signature buys no second call, here or elsewhere.
        if (!(await books.prove(digest, id))) throw authorizationUsed()
        try {
          return await metering.call(call, pricing, { payer }, [])
        } catch (error) {
          // Others drew from it in this very moment.
          if (!(error instanceof TooLittle)) throw error
          const sentence = 'Your balance was used up by other calls. Nothing was charged.'
          return await tooLittle(call, pricing, { payer, balance: error.balance, sentence })
        }
      }
      if (judged.part && !pays(pricing, left, judged.amount)) {
        return await tooLittle(call, pricing, { payer, balance: left })
      }
      return await buying.begin(call, pricing, judged)
    },
  }
  return prepaying
}

const NO_BALANCE = {
  reason: 'unknown_token',
  payer: null,
  sentence:
    'This X-Payment-Token opens no balance here. Nothing was charged. Pay, and it opens the balance that you pay into.',
}

interface PrepayingParts extends GateParts {
  offering: Offering
  metering: Metering
  buying: Buying
}

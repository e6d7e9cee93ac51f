import type { Chain } from '../../chain/model.ts'
import type { Checkouts } from '../../checkouts/service/checkouts.ts'
import { DomainError } from '../../kit/errors.ts'
import { attemptOf, deriveId } from '../../kit/ids.ts'
import type { PaymentAddress } from '../model.ts'
import { isFinalRefusal, orderNonce, type Attempt } from '../rules.ts'
import { PaymentRefused } from '../../sales/errors.ts'
import { outcomeOf } from '../../transfers/service/outcome.ts'
import { isExpired } from '../../x402/reasons.ts'
import type { PaymentAddressDeps } from './deps.ts'

/** Buys an order with the authorization of its address. */
export function createBuying({
  checkouts,
  signer,
  tokens,
  confirmations,
  log,
  measures,
  failpoints,
}: PaymentAddressDeps) {
  /** The authorization of this attempt is the same each time. Buys with it, or says how that stands. */
  async function attemptTo(chain: Chain, of: PaymentAddress): Promise<Attempt> {
    try {
      const { status, reason } = ((await bought(of)) ?? (await buy(of))).payment
      await failpoints.reach('payment address bought')
      const isFinal = false
      if (status !== 'failed')
        return { sale: status === 'paid' ? 'paid' : 'open', reason: null, isFinal, isOver: false }
      return { sale: 'failed', reason: reason?.code ?? null, isFinal, isOver: (await endOf(chain, of)) !== null }
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind === 'failed') throw error
      const code = refusalIn(error, of)
      const end = await endOf(chain, of)
      return { sale: 'none', reason: code, isFinal: end === 'used' || isFinalRefusal(code), isOver: end !== null }
    }
  }

  /** Every authorization is refused once it has expired. Why the order was not sold with it is what was refused before. */
  function refusalIn(error: DomainError, { reason: before }: PaymentAddress): string {
    const hasExpired = error instanceof PaymentRefused && isExpired(error.reason)
    return hasExpired && before !== null ? before : error.code
  }

  /** How this attempt's authorization has ended, if it has. */
  async function endOf(chain: Chain, of: PaymentAddress): Promise<'unused' | 'used' | null> {
    const terms = { from: of.address, nonce: orderNonce(of), validBefore: of.validBefore ?? 0n }
    const outcome = await outcomeOf(chain, { ...terms, pays: null, seenBlock: null }, confirmations)
    if (outcome.state === 'over' || outcome.state === 'spent') return 'unused'
    if (outcome.state !== 'used') return null
    // Its money has reached the seller, and the sale is not paid, as after a restore: a person has to look at it. What is
    // at the address now came after it, so it can go back.
    log.error({ paymentAddress: of.id, attempt: of.attempt }, 'the transfer of an order was used without its sale')
    measures.count('payment_address_unmatched')
    return outcome.final ? 'used' : null
  }

  /** What an earlier look has begun goes on by itself. Null where there is nothing yet. */
  async function bought({ id, attempt, checkoutId }: PaymentAddress): Promise<PaymentView | null> {
    const payment = deriveId('pay', attemptOf(id, attempt))
    try {
      return await checkouts.payment(checkoutId, payment, tokens.of(payment))
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'missing') return null
      throw error
    }
  }

  async function buy(of: PaymentAddress): Promise<PaymentView> {
    const { checkoutId, address: from, account, index, attempt, validBefore } = of
    const { input, choice, quoteId, receipt } = of.bought
    const order: Parameters<typeof checkouts.payByTransfer>[1] = {
      input,
      choice,
      quoteId,
      receipt: receipt ?? undefined,
      sign(network, terms) {
        // Another account's key would sign for another address.
        if (signer?.account !== account) throw new Error('the key of a payment address is not here')
        const times = { validAfter: 0n, validBefore: validBefore ?? 0n }
        return signer.sign({ order: index }, network, { ...terms, ...times, from, nonce: orderNonce(of) })
      },
    }
    return await checkouts.payByTransfer(checkoutId, order, attemptOf(of.id, attempt))
  }

  return { attemptTo }
}

type PaymentView = Awaited<ReturnType<Checkouts['payment']>>

import { DomainError } from '../../kit/errors.ts'
import type { Usdc } from '../../kit/money.ts'
import { anotherRequest, settlementPending } from '../errors.ts'
import type { Exact, HeaderList, Metered, Outcome, Payment } from '../model.ts'
import type { Hold } from '../ports.ts'
import { HOLD_MS, NO_BODY_HASH } from '../rules/payment.ts'
import { isMetered } from '../rules/pricing.ts'
import { keyOf } from '../rules/routes.ts'
import { receiptOf } from '../rules/x402.ts'
import { discard, type Gathered } from './answer.ts'
import { hashOf } from './body.ts'
import { soldOutcome, type Call, type Calling, type Sellable } from './call.ts'
import { costOfWhole } from './meter.ts'
import { TooLittle, type Metering } from './metering.ts'
import type { Offering } from './offer.ts'
import type { GateParts } from './parts.ts'
import type { Settling } from './settle.ts'

/** How the client is told of its payment. */
export interface Told {
  version: 1 | 2 | null
  /** Given once. */
  token: string | null
  /** By a fresh signature. */
  proven?: boolean
}

export interface Carrying {
  /** A payment that is ours alone until its lease is over, from wherever it stands to an answer. */
  carry(call: Call, pricing: Exact | Metered, payment: Payment, told: Told): Promise<Outcome>
}

/**
 * Upstream, then chain, then answer: nothing is charged for an answer that never came, and nothing is given away
 * before it is paid. Where the money is taken first, the answer is owed until one has gone out.
 */
export function createCarrying(parts: CarryingParts): Carrying {
  const { books, log, clock, tally, addresses, limits, settling, calling, offering, metering, checkpoint } = parts

  async function carry(call: Call, pricing: Exact | Metered, payment: Payment, told: Told): Promise<Outcome> {
    const { id } = payment
    try {
      if (payment.state === 'calling' && call.route.settle === 'after') return await sell(call, pricing, payment, told)
      // Once the chain is asked nothing is taken back.
      call.departure.leave()
      const ended = payment.state === 'paid' ? payment : await settleFirst(payment)
      if (ended.state !== 'paid') return await unpaid(call, pricing, ended)
      return await answerOwed(call, pricing, ended, told)
    } catch (error) {
      await books.leave(id).catch((fault: unknown) => {
        log.error({ payment: id, err: fault }, 'a payment could not be left to others; its lease ends by itself')
      })
      // Whoever asks again needs the token: somebody else may have put the signature on the chain meanwhile.
      if (error instanceof DomainError) throw withToken(error, told.token, id)
      if (!(error instanceof TooLittle)) throw error
      const { payer } = payment
      const sentence =
        'Your payment is in your balance, which other calls have used meanwhile. Nothing more was charged.'
      const why = { reason: 'insufficient_balance', payer, sentence, balance: error.balance }
      return await offering.refused(call, pricing, { ...why, headers: headersOf(payment, { ...told, version: null }) })
    }
  }

  async function sell(call: Call, pricing: Exact | Metered, payment: Payment, told: Told): Promise<Outcome> {
    const answer = await callFor(call, pricing, payment)
    if (answer.failed !== null) return withHeaders(answer.failed, payment, told)
    const { gathered, sent } = answer
    try {
      const cost = await costOf(call, pricing, payment, answer)
      const kept = gathered.kind === 'whole' ? gathered : null
      await books.settling(payment.id, {
        answer: kept === null ? null : { status: kept.status, headers: kept.headers, body: kept.body },
        bodyHash: sent === null ? NO_BODY_HASH : sent.hash,
        cost,
      })
      await checkpoint('answered')
      const goesOn = kept === null && isMetered(pricing) ? holdOf(call, pricing, payment) : null
      const end = { delivery: kept === null ? ('begun' as const) : ('none' as const), hold: goesOn }
      const ended = await settled(payment, () =>
        settling.settle({ ...payment, state: 'settling' }, end, limits.settleMs),
      )
      if (ended.state !== 'paid') {
        discardAll(gathered)
        return await unpaid(call, pricing, ended)
      }
      return await deliver(call, pricing, ended, gathered, sent?.text() ?? '', told)
    } catch (error) {
      discardAll(gathered)
      throw error
    }
  }

  async function settleFirst(payment: Payment): Promise<Payment> {
    if (payment.state === 'calling') await books.settling(payment.id, { answer: null, bodyHash: null, cost: null })
    const end = { delivery: 'none' as const, hold: null }
    return await settled(payment, () => settling.settle({ ...payment, state: 'settling' }, end, limits.settleMs))
  }

  /** Whatever goes wrong once the chain was asked is told as not known yet, under the payment's id. */
  async function settled(payment: Payment, act: () => Promise<Payment>): Promise<Payment> {
    try {
      return await act()
    } catch (error) {
      log.error({ payment: payment.id, err: error }, 'a payment could not be carried on; the sweeper does')
      return { ...payment, state: 'settling' }
    }
  }

  /** Paid, and nothing of an answer has gone out: the one that is kept, else a new one. */
  async function answerOwed(call: Call, pricing: Exact | Metered, payment: Payment, told: Told): Promise<Outcome> {
    const stored = await books.answerOf(payment.id)
    if (stored !== null) {
      await assertSameBody(call, payment)
      const whole: Gathered = { kind: 'whole', ...stored, trailers: () => ({}) }
      return await deliver(call, pricing, payment, whole, '', told)
    }
    if (isMetered(pricing)) {
      // What was paid is in the balance: the call draws from it like any other.
      await books.begun(payment.id)
      return await metering.call(call, pricing, { payer: payment.payer }, headersOf(payment, told), payment)
    }
    const answer = await callFor(call, pricing, payment)
    if (answer.failed !== null) return withHeaders(answer.failed, payment, told)
    const { gathered, sent } = answer
    if (gathered.kind === 'whole') {
      // Whoever hangs up now fetches this one; the upstream is not asked twice for one payment.
      const { status, headers, body } = gathered
      await books.keep(payment.id, { status, headers, body }, sent === null ? NO_BODY_HASH : sent.hash)
    } else await books.begun(payment.id)
    return await deliver(call, pricing, payment, gathered, '', told)
  }

  /** On failure nobody works on the payment any more: what was not charged is free, what was is owed. */
  async function callFor(call: Call, pricing: Exact | Metered, payment: Payment) {
    const { id, payer, amount, state } = payment
    const giveUp = async (): Promise<void> => {
      tally.count(call.gate.id, keyOf(call.route), 'upstream_error')
      await (state === 'calling' ? books.release(id) : books.leave(id))
    }
    try {
      const bind = async (hash: Buffer): Promise<void> => {
        if (!(await books.bind(id, hash))) throw anotherRequest()
      }
      const who = { payment: id, payer, amount, measured: isMetered(pricing), bind } as const
      const answer = await calling.paid(call, { ...who, state: state === 'calling' ? 'authorized' : 'settled' })
      if (answer.failed !== null) await giveUp()
      return answer
    } catch (error) {
      await giveUp()
      throw error
    }
  }

  async function costOf(
    call: Call,
    pricing: Exact | Metered,
    { amount }: Payment,
    { gathered, sent }: Sellable,
  ): Promise<Usdc | null> {
    if (gathered.kind !== 'whole' || !isMetered(pricing)) return null
    const ms = clock.now().getTime() - call.began.getTime()
    const measured = { sent: sent?.text() ?? '', body: gathered.body, ms }
    const cost = await costOfWhole(pricing, measured, parts.countTokens)
    // Who was told a lower maximum a moment ago pays no more than that.
    return cost < amount ? cost : amount
  }

  async function unpaid(call: Call, pricing: Exact | Metered, payment: Payment): Promise<Outcome> {
    const { id, reason, payer } = payment
    if (payment.state === 'failed') {
      return await offering.refused(call, pricing, { reason: reason ?? UNKNOWN, payer })
    }
    await books.leave(id)
    tally.count(call.gate.id, keyOf(call.route), 'settlement_pending')
    throw settlementPending(id, addresses.statusOf(id))
  }

  async function deliver(
    call: Call,
    pricing: Exact | Metered,
    payment: Payment,
    gathered: Gathered,
    sent: string,
    told: Told,
  ): Promise<Outcome> {
    tally.count(call.gate.id, keyOf(call.route), 'answered')
    const headers = headersOf(payment, told)
    const { id } = payment
    if (isMetered(pricing)) {
      const outcome = await metering.paidCall(call, pricing, payment, gathered, sent, headers)
      return gathered.kind === 'whole' ? { ...outcome, whenSent: (arrived) => sentOut(id, arrived) } : outcome
    }
    return {
      ...soldOutcome(gathered, headers),
      whenSent: (arrived) => (gathered.kind === 'whole' ? sentOut(id, arrived) : books.delivered(id)),
    }
  }

  async function sentOut(id: Payment['id'], arrived: boolean): Promise<void> {
    await (arrived ? books.delivered(id) : books.leave(id))
  }

  async function assertSameBody({ request }: Call, { bodyHash }: Payment): Promise<void> {
    if (bodyHash === null) return
    if (!bodyHash.equals(await hashOf(request.body, limits.bodyBytes))) throw anotherRequest()
  }

  function holdOf({ gate, route, id }: Call, pricing: Metered, payment: Payment): Hold {
    return {
      call: id,
      paywallId: gate.id,
      network: payment.network,
      route: keyOf(route),
      by: { payer: payment.payer },
      amount: pricing.maximum,
      minimum: pricing.minimum,
      until: new Date(clock.now().getTime() + HOLD_MS),
    }
  }

  return { carry }
}

interface CarryingParts extends GateParts {
  settling: Settling
  calling: Calling
  offering: Offering
  metering: Metering
}

const UNKNOWN = 'invalid_exact_evm_transaction_failed'

function headersOf(payment: Payment, { version, token }: Told): HeaderList {
  return [
    ['X-Payment-ID', payment.id],
    ...(version === null ? [] : [receiptOf(payment, version)]),
    ...(token === null ? [] : ([['X-Payment-Token', token]] as const)),
  ]
}

/** What failed is passed on as it came, with what its buyer needs to ask again. */
function withHeaders(outcome: Outcome, payment: Payment, { token }: Told): Outcome {
  return { ...outcome, headers: [...outcome.headers, ...headersOf(payment, { version: null, token })] }
}

function withToken(error: DomainError, token: string | null, paymentId: string): DomainError {
  if (token === null) return error
  const fields = { ...error.fields, paymentId, paymentToken: token }
  return new DomainError(error.kind, error.code, error.message, fields, error.cause)
}

function discardAll(gathered: Gathered): void {
  if (gathered.kind === 'tunnel') gathered.answer.tunnel?.destroy()
  else discard(gathered)
}

import { toDecimal, type Usdc } from '../../kit/money.ts'
import type { Address } from '../../chain/model.ts'
import type { HeaderList, Metered, Outcome, Payment } from '../model.ts'
import { HOLD_MS } from '../rules/payment.ts'
import { lastsMs } from '../rules/pricing.ts'
import { keyOf } from '../rules/routes.ts'
import type { Gathered } from './answer.ts'
import { resourceOf, soldOutcome, type Call, type Calling } from './call.ts'
import { costOfWhole, StreamMeter } from './usage-meter.ts'
import type { GateDeps } from './deps.ts'

export interface MeteredCalls {
  /** A call that draws from a balance. Throws `TooLittle` with the balance if it is not enough. */
  call(
    call: Call,
    pricing: Metered,
    by: { token: Buffer } | { payer: Address },
    payment?: Payment['id'],
  ): Promise<Outcome>
  /** The call that came with a payment into a balance, once that is paid. */
  paidCall(call: Call, pricing: Metered, payment: Payment, answered: Answered): Promise<Outcome>
}

/** An upstream's answer, how long it worked for it, the request that was sent, and the payment's headers. */
interface Answered {
  gathered: Gathered
  upstreamMs: number
  sent: string
  headers: HeaderList
}

/** Thrown when a balance does not cover the call; null if there is no balance. */
export class TooLittle extends Error {
  readonly balance: Usdc | null
  readonly payer: Address | null

  constructor(balance: Usdc | null, payer: Address | null) {
    super('insufficient balance for this call')
    this.balance = balance
    this.payer = payer
  }
}

/**
 * Calls whose cost is known only at the end: the maximum is set aside first, and the actual cost is taken afterwards.
 */
export function createMeteredCalls({
  journal,
  dialects,
  calling,
  tally,
  clock,
  countTokens,
  log,
}: MeteredCallsDeps): MeteredCalls {
  async function call(
    one: Call,
    pricing: Metered,
    by: { token: Buffer } | { payer: Address },
    payment?: Payment['id'],
  ): Promise<Outcome> {
    const { gate, route, operation: id } = one
    const held = await journal.hold({
      call: id,
      paywallId: gate.id,
      network: gate.network,
      route: keyOf(route),
      by,
      amount: pricing.maximum,
      minimum: pricing.minimum,
      until: new Date(clock.now().getTime() + HOLD_MS),
    })
    if (!held.held) throw new TooLittle(held.balance, held.payer ?? null)
    const who = { payment: payment ?? null, payer: held.payer, amount: pricing.maximum } as const
    try {
      const answer = await calling.paid(one, { ...who, state: 'prepaid', measured: true, bind: null })
      if (answer.failed !== null) {
        tally.count(gate.id, keyOf(route), 'upstream_error')
        const left = await journal.draw(id, ZERO)
        return { ...answer.failed, headers: [...answer.failed.headers, balanceHeader(left)] }
      }
      const { gathered, upstreamMs, sent } = answer
      const { payer, left } = held
      const receipt = dialects.drawn({ network: gate.network, payer, resource: resourceOf(one), paidAt: clock.now() })
      const headers = Object.entries(receipt)
      return await measure(one, pricing, { gathered, upstreamMs, sent: sent?.text() ?? '', left, headers })
    } catch (error) {
      // If the hold has already ended, this changes nothing.
      await journal.draw(id, ZERO)
      throw error
    }
  }

  /**
   * A whole answer is paid for before it is sent; a stream when it has ended. Its buyer does not pay for the time in which
   * the chain settles: before the upstream was asked, or between its answer and this.
   */
  async function measure(
    one: Call,
    pricing: Metered,
    { gathered, upstreamMs, sent, left, headers }: MeasuredAnswer,
  ): Promise<Outcome> {
    const begun = clock.now().getTime()
    const elapsed = (): number => upstreamMs + clock.now().getTime() - begun
    if (gathered.kind === 'whole') {
      const { body, headers: about } = gathered
      const cost = await costOfWhole(pricing, { sent, body, headers: about, ms: upstreamMs }, countTokens)
      const after = await journal.draw(one.operation, cost)
      return soldOutcome(gathered, [...headers, costHeader(cost), balanceHeader(after)])
    }
    // Its hold was made at some time since the request began, and the settlement counts there.
    const heldMs = HOLD_MS - MARGIN_MS - (begun - one.began.getTime())
    const cutAfterMs = Math.max(0, Math.min((lastsMs(pricing) ?? HOLD_MS) - upstreamMs, heldMs))
    const outcome = soldOutcome(gathered, [...headers, balanceHeader(left)])
    const usageMeter = new StreamMeter(pricing, gathered.kind === 'tunnel' ? [] : gathered.headers)
    let after: Usdc | null = null
    const end = async (): Promise<void> => {
      const cost = await usageMeter.cost(pricing, sent, elapsed(), countTokens)
      after = await journal.draw(one.operation, cost)
    }
    if (gathered.kind === 'tunnel') return { ...outcome, cutAfterMs, whenSent: end }
    const heard = usageMeter.listen(gathered.body, cutAfterMs)
    const { trailers } = gathered
    return {
      ...outcome,
      cutAfterMs,
      body: usageMeter,
      trailers: () => ({ ...trailers(), ...(after === null ? {} : { 'X-Payment-Balance': toDecimal(after) }) }),
      async whenSent() {
        await heard.end
        await end().catch((error: unknown) => {
          log.error({ call: one.operation, err: error }, 'a call could not be charged; its hold will expire')
        })
      },
    }
  }

  return {
    call,
    async paidCall(one, pricing, payment, { gathered, upstreamMs, sent, headers }) {
      if (gathered.kind !== 'whole') {
        const left = await journal.left(payment.paywallId, payment.network, payment.payer)
        return await measure(one, pricing, { gathered, upstreamMs, sent, left, headers })
      }
      const left = await journal.left(payment.paywallId, payment.network, payment.payer)
      const cost = payment.cost === null ? [] : [costHeader(payment.cost)]
      return soldOutcome(gathered, [...headers, ...cost, balanceHeader(left)])
    },
  }
}

interface MeteredCallsDeps extends GateDeps {
  calling: Calling
}

/** A stream ends before its hold does. */
const MARGIN_MS = 60_000
const ZERO = 0n as Usdc

function balanceHeader(left: Usdc): readonly [string, string] {
  return ['X-Payment-Balance', toDecimal(left)]
}

function costHeader(cost: Usdc): readonly [string, string] {
  return ['X-Payment-Cost', toDecimal(cost)]
}

/** The answer, and what is left of the balance that the hold was taken from. */
interface MeasuredAnswer extends Answered {
  left: Usdc
}

import { ZERO_ADDRESS } from '../../kit/address.ts'
import { createHash } from 'node:crypto'
import { deriveId } from '../../kit/ids.ts'
import { usdc, type Usdc } from '../../kit/money.ts'
import { paymentHeaderIn } from '../../x402/payload.ts'
import { badPayment, inTestMode } from '../errors.ts'
import { simulatedSale } from '../../methods/simulated/begin.ts'
import { simulatedHash } from '../../methods/simulated/settle.ts'
import type { Sale } from '../../sales/model.ts'
import { type Exact, type HeaderList, type Metered, type Outcome } from '../model.ts'
import { detailsOf, lineHash, TEST_TOKEN } from '../rules/payment.ts'
import { chargeOf, isMetered, windowStart } from '../rules/pricing.ts'
import { keyOf } from '../rules/routes.ts'
import { endpointOf, soldOutcome, type Call, type Calling, type Sellable } from './call.ts'
import { costOfWhole } from './usage-meter.ts'
import type { Offering } from './offer.ts'
import type { GateDeps } from './deps.ts'

export interface Simulating {
  serve(call: Call, pricing: Exact | Metered): Promise<Outcome>
}

/** Test mode: the owner's token stands in for a payment, no chain is called, and no balance or revenue changes. */
export function createSimulating({
  journal,
  clock,
  tally,
  countTokens,
  offering,
  calling,
}: SimulatingDeps): Simulating {
  async function costOf(
    call: Call,
    pricing: Exact | Metered,
    { gathered, sent, upstreamMs: ms }: Sellable,
  ): Promise<Usdc> {
    if (!isMetered(pricing)) {
      if (pricing.model === 'per-request') return pricing.amount
      const { gate, route } = call
      const start = windowStart(pricing.window, clock.now())
      const place = [gate.id, keyOf(route), ZERO_ADDRESS, pricing.tiers, start, gate.network] as const
      return chargeOf(pricing, await journal.tier(...place))
    }
    if (gathered.kind !== 'whole') return pricing.minimum > 0n ? pricing.minimum : usdc(1n)
    return await costOfWhole(
      pricing,
      { sent: sent?.text() ?? '', body: gathered.body, headers: gathered.headers, ms },
      countTokens,
    )
  }

  return {
    async serve(call, pricing) {
      const { gate, route, request, operation: id } = call
      const token = request.header('x-payment-token')
      if (token === undefined) {
        const header = paymentHeaderIn(request.header) ?? 'x-payment-id'
        if (request.header(header) !== undefined) {
          throw badPayment(header, 'must be absent: this paywall is in test mode and takes X-Payment-Token: test_…')
        }
        return await offering.unpaid(call, pricing)
      }
      if (!TEST_TOKEN.test(token) || gate.testToken === null || !same(token, gate.testToken)) {
        throw inTestMode()
      }
      const measured = isMetered(pricing)
      const payment = deriveId('pay', id)
      const who = {
        payment,
        payer: ZERO_ADDRESS,
        amount: chargeOf(pricing, 0),
        state: 'simulated',
        measured,
        bind: null,
      } as const
      const answer = await calling.paid(call, who)
      if (answer.failed !== null) {
        tally.count(gate.id, keyOf(route), 'upstream_error')
        return answer.failed
      }
      const amount = await costOf(call, pricing, answer)
      await journal.simulated(testSale(call, amount, clock.now()), null)
      tally.count(gate.id, keyOf(route), 'simulated')
      const headers: HeaderList = [
        ['X-Payment-ID', payment],
        ['Coinslot-Test', 'true'],
      ]
      return soldOutcome(answer.gathered, headers)
    },
  }
}

interface SimulatingDeps extends GateDeps {
  offering: Offering
  calling: Calling
}

function testSale({ gate, route, request, operation }: Call, amount: Usdc, now: Date): Sale {
  const id = deriveId('pay', operation)
  const about = {
    kind: 'request',
    route: keyOf(route),
    endpoint: endpointOf(request),
    windowStart: null,
    cost: null,
  } as const
  return simulatedSale({
    id,
    product: 'gate',
    subject: gate.id,
    ...gate.owner,
    state: 'paid',
    handover: 'whole',
    amount,
    network: gate.network,
    recipient: gate.recipient,
    inputHash: lineHash(gate.id, request),
    tokenHash: null,
    details: detailsOf(about),
    txHash: simulatedHash(id),
    reason: null,
    leaseUntil: null,
    createdAt: now,
    endedAt: now,
  })
}

/** Compares in constant time. */
function same(one: string, other: string): boolean {
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
  return hash(one) === hash(other)
}

import { z } from 'zod'
import { route, type AnyRoute } from '../../api/route.ts'
import { sellOverHttp, withinMaxCost, type Counter } from '../../sales/service/door.ts'
import type { Run } from '../model/run.ts'
import type { GuestRuns } from '../service/guests.ts'
import { ranBody, runBody, toRan } from './runs.ts'

/** A run without a key, paid by x402 of either version. */
export function guestRoute(guests: GuestRuns, facilitator: string): AnyRoute {
  return route({
    method: 'post',
    path: '/rda/:slug/run',
    summary:
      'Run a published RDA without a key; a 402 response states the price, for x402 version 1 or 2. It is charged once the run has succeeded',
    tag: 'Runs',
    auth: 'anyone',
    limit: 'pay',
    sells: { description: 'One run' },
    params: z.object({ slug: z.string().max(200).meta({ description: 'Its slug or id' }) }),
    body: runBody.pick({ inputs: true, maxCost: true }),
    answers: {
      200: ranBody.extend({ txHash: z.string(), network: z.string(), payer: z.string(), paymentToken: z.string() }),
    },
    errors: {
      402: 'The price, or why the payment was refused.',
      403: 'A finished run or order of this wallet could not be charged.',
      404: 'There is no such published RDA.',
      409: 'The authorization already paid for something else; or it is public, so the payment token is required; or its run is in progress or was already answered.',
      410: 'The authorization has expired.',
      500: 'The run failed and nothing was charged: the same payment runs it again. Where its authorization was submitted by somebody else meanwhile, the payment goes back to its payer.',
      503: 'Settlement is pending: retry with the payment token. Or settlement is unavailable right now.',
    },
    handle({ params: { slug }, body: { inputs, maxCost }, ...request }) {
      const counter: Counter<Run> = {
        facilitator,
        dialects: guests.dialects,
        journal: guests.journal,
        offer: () => guests.offer(slug, inputs),
        buy: (ask) => guests.buy(slug, inputs, ask),
        toBody: ({ value }) => toRan(value),
      }
      return sellOverHttp(request, withinMaxCost(counter, maxCost ?? null))
    },
  })
}

import { z } from 'zod'
import { route, type AnyRoute } from '../../api/route.ts'
import { sellOverHttp } from '../../sales/service/door.ts'
import type { GuestRuns } from '../service/guests.ts'
import { ranBody, runBody, toRan } from './runs.ts'

/** A run without a key, paid by x402 of either version. */
export function guestRoute(guests: GuestRuns, facilitator: string): AnyRoute {
  return route({
    method: 'post',
    path: '/rda/:slug/run',
    summary: 'Run a published RDA without a key: 402 says what to pay, by x402 of either version',
    tag: 'Runs',
    auth: 'anyone',
    limit: 'pay',
    params: z.object({ slug: z.string().max(200).meta({ description: 'Its slug or id' }) }),
    body: runBody.pick({ inputs: true }),
    answers: {
      200: ranBody.extend({ txHash: z.string(), network: z.string(), payer: z.string(), paymentToken: z.string() }),
    },
    errors: {
      402: 'What is to be paid; or why the payment is refused.',
      404: 'There is no such published RDA.',
      409: 'The authorization has paid for something else, or is public already, so that the payment token is needed; or its run is under way, or its answer was given.',
      410: 'The authorization has expired.',
      500: 'The run failed. Where the payment has arrived, the same payment runs it again.',
      503: 'The payment is on its way: ask again with its token. Or nothing can be settled right now.',
    },
    handle: ({ params: { slug }, body: { inputs }, ...request }) =>
      sellOverHttp(request, {
        facilitator,
        journal: guests.journal,
        offer: () => guests.offer(slug, inputs),
        buy: (ask) => guests.buy(slug, inputs, ask),
        toBody: ({ value }) => toRan(value),
      }),
  })
}

import { z } from 'zod'
import type { Payment } from './model.ts'
import { fromV1, v1Request } from './v1/decode.ts'
import { fromV2, v2Request } from './v2/decode.ts'

/** A payload and the terms it is for, in either version. */
export const paymentRequest = z
  .discriminatedUnion('x402Version', [v1Request, v2Request], { error: 'must be 1 or 2' })
  .meta({ description: 'As the x402 protocol has it; a `payment` beside `paymentPayload` is ignored' })

export function toPayment(request: z.output<typeof paymentRequest>): Payment {
  return request.x402Version === 1 ? fromV1(request) : fromV2(request)
}

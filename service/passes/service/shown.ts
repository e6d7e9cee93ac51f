import { z } from 'zod'
import { timestamp } from '../../kit/wire.ts'
import { PASS_ENDS, PASS_STATUSES, runsLeftOf, statusOf, type Pass } from '../model.ts'

/** A pass as its seller and its holder see it. */
export const passOut = z
  .object({
    id: z.string(),
    checkoutId: z.string(),
    plan: z.object({ id: z.string(), name: z.string() }),
    holder: z.string().meta({ description: 'The wallet that paid' }),
    testMode: z.boolean(),
    status: z.enum(PASS_STATUSES),
    runs: z.int().nullable().meta({ description: 'Null where only the time is limited' }),
    runsLeft: z.int().nullable(),
    until: timestamp.nullable().meta({ description: 'Null where only the runs are limited' }),
    endedAt: timestamp.nullable(),
    endReason: z.enum(PASS_ENDS).nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'Pass' })

export function passBody(pass: Pass, now: Date): z.input<typeof passOut> {
  const { id, checkoutId, planId, planName, holder, simulated, runs, until, endedAt, endReason, createdAt } = pass
  return {
    id,
    checkoutId,
    plan: { id: planId, name: planName },
    holder,
    testMode: simulated,
    status: statusOf(pass, now),
    runs,
    runsLeft: runsLeftOf(pass),
    until: until?.toISOString() ?? null,
    endedAt: endedAt?.toISOString() ?? null,
    endReason,
    createdAt: createdAt.toISOString(),
  }
}

import { z } from 'zod'
import { fromWire, LARGEST, type Usdc } from './money.ts'

/** In whole USDC, as the API reference shows it. */
const AMOUNT_MAX = Number(LARGEST / 1_000_000n)

/** USDC as a JSON number with at most six decimals; never rounded. */
export const amount = z
  .number({ error: 'must be a number' })
  .transform((value, context): Usdc => {
    const parsed = fromWire(value)
    if (typeof parsed === 'bigint') return parsed
    context.addIssue({ code: 'custom', message: parsed })
    return z.NEVER
  })
  .meta({ description: 'USDC, at most 6 decimals', examples: [1.5], minimum: 0, maximum: AMOUNT_MAX })

/** The same in an address. Empty is no amount, so it is refused and not taken for 0. */
export const amountQuery = z
  .string()
  .regex(/^\d{1,15}(\.\d{1,15})?(e-?\d{1,2})?$/i, 'must be an amount, such as 0.05')
  .transform(Number)
  .pipe(amount)
  .meta({ type: 'number', minimum: 0, maximum: AMOUNT_MAX })

/** An amount that moves something: not 0. */
export const positiveAmount = amount.refine((value) => value > 0n, 'must be greater than 0').meta({ minimum: 0.000001 })

/** An amount in an answer. */
export const amountOut = z.number().meta({ description: 'USDC, at most 6 decimals', examples: [1.5] })

export const timestamp = z.string().meta({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] })

/** The paging of every list. An offset beyond the end gives an empty page, a limit above 100 an error. */
export const page = z.object({
  limit: wholeNumber(1, 100, 20),
  offset: wholeNumber(0, 1_000_000_000, 0),
})

function wholeNumber(least: number, most: number, otherwise: number) {
  return z
    .string()
    .regex(/^\d{1,10}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be from ${String(least)} to ${String(most)}`)
    .default(otherwise)
    .meta({ type: 'integer', minimum: least, maximum: most, default: otherwise })
}

export const word = (longest: number) => z.string().max(longest, `must have at most ${String(longest)} characters`)

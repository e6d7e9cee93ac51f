import { z } from 'zod'
import { invalid } from '../../kit/errors.ts'
import { toWire, usdc } from '../../kit/money.ts'
import { amountOut } from '../../kit/wire.ts'
import type { DayRow } from '../model.ts'
import type { Analytics } from '../ports.ts'

const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a day like 2026-01-31')
  .refine((text) => !Number.isNaN(Date.parse(text)), 'must be a valid date')

export const spanQuery = z.object({
  from: day.optional().meta({ description: 'The first day, in UTC; defaults to 29 days before the last' }),
  to: day.optional().meta({ description: 'The last day, in UTC; defaults to today' }),
})

export interface Span {
  from: string
  to: string
}

export function spanOf({ from, to }: z.output<typeof spanQuery>, now: Date): Span {
  const last = to ?? now.toISOString().slice(0, 10)
  const first = from ?? new Date(Date.parse(last) - 29 * DAY_MS).toISOString().slice(0, 10)
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS
  if (days < 0) throw invalid({ from: 'must not be after to' })
  if (days > 366) throw invalid({ from: 'must be at most 366 days before to' })
  return { from: first, to: last }
}

const DAY_MS = 86_400_000

const sums = {
  calls: z.int().meta({ description: 'Successful calls, paid or free' }),
  payments: z.int(),
  revenue: amountOut,
  drawn: amountOut.meta({ description: 'Charged to prepaid balances by calls' }),
  refusals: z
    .record(z.string(), z.int())
    .meta({ description: 'By reason; `unpaid` counts calls that came without a payment' }),
}

export const analyticsOut = z
  .object({
    from: z.string(),
    to: z.string(),
    revenue: amountOut.meta({
      description: 'Of all time, like `customers`; all other values are for the selected days',
    }),
    customers: z.int(),
    total: z.object(sums),
    routes: z.array(z.object({ route: z.string(), ...sums })),
    days: z.array(z.object({ day: z.string(), ...sums })),
  })
  .meta({ id: 'PaywallAnalytics' })

export function toAnalyticsBody({ revenue, customers, days }: Analytics, span: Span): z.input<typeof analyticsOut> {
  return {
    ...span,
    revenue: toWire(revenue),
    customers,
    total: summed(days),
    routes: grouped(days, ({ route }) => route).map(([route, rows]) => ({ route, ...summed(rows) })),
    days: grouped(days, (row) => row.day).map(([of, rows]) => ({ day: of, ...summed(rows) })),
  }
}

function grouped(rows: readonly DayRow[], by: (row: DayRow) => string): [string, DayRow[]][] {
  const groups = new Map<string, DayRow[]>()
  for (const row of rows) groups.set(by(row), [...(groups.get(by(row)) ?? []), row])
  return [...groups]
}

function summed(rows: readonly DayRow[]) {
  const refusals = new Map<string, number>()
  const sum = { calls: 0, payments: 0, revenue: usdc(0n), drawn: usdc(0n) }
  for (const { outcome, count, amount } of rows) {
    if (outcome === 'answered' || outcome === 'simulated') sum.calls += count
    else if (outcome === 'paid') {
      sum.payments += count
      sum.revenue = usdc(sum.revenue + amount)
    } else if (outcome === 'drawn') sum.drawn = usdc(sum.drawn + amount)
    else refusals.set(outcome, (refusals.get(outcome) ?? 0) + count)
  }
  return { ...sum, revenue: toWire(sum.revenue), drawn: toWire(sum.drawn), refusals: Object.fromEntries(refusals) }
}

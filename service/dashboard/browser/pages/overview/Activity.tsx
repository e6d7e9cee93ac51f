import { inUsdc } from '../../../../ui-kit/format.ts'
import { useRead, type Output } from '../../api/procedures.ts'
import { DayBars } from '../../parts/layout.tsx'
import { Failure } from '../../parts/states.tsx'
import { inCounts } from '../../parts/values.tsx'
import { serviceNow } from '../../settings.ts'
import { daysIn, type Days } from '../payments/period.ts'

/** What moved in the wallet and what ran, by day. The service answers for the last ninety days. */
export function Activity({ days }: { days: Days }) {
  const today = new Date(serviceNow()).toISOString().slice(0, 10)
  const back = Math.max(1, daysIn({ first: days.first, last: today }))
  const isRecent = back <= DAYS_MAX
  const money = useRead('wallet.days', { days: isRecent ? back : 1 })
  const runs = useRead('runs.days', { days: isRecent ? back : 1 })
  if (!isRecent)
    return <p className="text-quiet">Money in and out, and runs, are shown for periods in the last 90 days.</p>
  const error = money.error ?? runs.error
  if (error !== null && (money.data === undefined || runs.data === undefined))
    return <Failure fault={error} again={() => void Promise.all([money.refetch(), runs.refetch()])} />
  const isShown = ({ day }: { day: string }): boolean => day <= days.last
  const span = { days: daysIn(days), last: days.last }
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2">
      <MoneyByDay data={money.data} days={days} />
      <DayBars
        title="Runs by day"
        label="Runs by day"
        rows={runs.data === undefined ? undefined : byDay(runs.data.filter(isShown))}
        series={[
          { key: 'succeeded', name: 'Succeeded', tone: 'accent' },
          { key: 'failed', name: 'Failed', tone: 'bad' },
        ]}
        {...span}
        format={inCounts}
      />
    </div>
  )
}

/** Only whole days: of a wallet with very many movements, earlier ones are not known. */
function MoneyByDay({ data, days: { first, last } }: { data: Output<'wallet.days'> | undefined; days: Days }) {
  const from = data?.wholeFrom ?? first
  const isShown = ({ day }: { day: string }): boolean => day <= last
  return (
    <div className="grid gap-2">
      {from <= last && (
        <DayBars
          title="Money in and out by day"
          label="USDC into and out of the wallet by day"
          rows={data?.days.filter(isShown)}
          series={[
            { key: 'sales', name: 'Sales', tone: 'good' },
            { key: 'deposits', name: 'Deposits', tone: 'quiet' },
            { key: 'moneyOut', name: 'Out', tone: 'accent' },
          ]}
          days={daysIn({ first: from > first ? from : first, last })}
          last={last}
          format={(value) => `${inUsdc(value)} USDC`}
        />
      )}
      {from > first && (
        <p className="text-quiet">
          Your wallet has very many transactions. Its money in and out by day is shown from {from} on.
        </p>
      )}
    </div>
  )
}

function byDay(rows: readonly { day: string; status: string; count: number }[]) {
  const counts = new Map<string, { succeeded: number; failed: number }>()
  for (const { day, status, count } of rows) {
    const of = counts.get(day) ?? { succeeded: 0, failed: 0 }
    if (status === 'succeeded') of.succeeded += count
    if (status === 'failed') of.failed += count
    counts.set(day, of)
  }
  return [...counts].map(([day, of]) => ({ day, ...of }))
}

const DAYS_MAX = 90

import { useRead } from '../../api/procedures.ts'
import { inUsdc } from '../../../../ui-kit/format.ts'
import { inCounts, Money } from '../../parts/values.tsx'
import { DayBars, Metric, Metrics, MoneyMetric } from '../../parts/layout.tsx'
import { Failure, Skeleton } from '../../parts/states.tsx'

const DAYS = 30

/** Income, spending, runs and failures of the last thirty days, by day. */
export function Month() {
  const money = useRead('wallet.days', { days: DAYS })
  const runs = useRead('runs.days', { days: DAYS })
  const checkouts = useRead('checkouts.days', { days: DAYS })
  const paywalls = useRead('paywalls.days', { days: DAYS })
  const error = money.error ?? runs.error ?? checkouts.error ?? paywalls.error
  if (
    money.data === undefined ||
    runs.data === undefined ||
    checkouts.data === undefined ||
    paywalls.data === undefined
  ) {
    const again = (): void => {
      for (const asked of [money, runs, checkouts, paywalls]) void asked.refetch()
    }
    return error === null ? <Skeleton className="h-80 w-full" /> : <Failure fault={error} again={again} />
  }
  const counts = new Map<string, { succeeded: number; failed: number }>()
  for (const { day, status, count } of runs.data) {
    const of = counts.get(day) ?? { succeeded: 0, failed: 0 }
    if (status === 'succeeded') of.succeeded += count
    if (status === 'failed') of.failed += count
    counts.set(day, of)
  }
  const byDay = [...counts].map(([day, of]) => ({ day, ...of }))
  return (
    <>
      <Metrics>
        <MoneyMetric
          name="Sales"
          note="Into the wallet in 30 days"
          amount={sum(money.data.map(({ sales }) => sales))}
        />
        <MoneyMetric name="Deposits" note="In 30 days" amount={sum(money.data.map(({ deposits }) => deposits))} />
        <MoneyMetric name="Money out" note="In 30 days" amount={sum(money.data.map(({ moneyOut }) => moneyOut))} />
        <Metric name="Checkout payments" note={<Money amount={sum(checkouts.data.map(({ amount }) => amount))} />}>
          {inCounts(sum(checkouts.data.map(({ paid }) => paid)))}
        </Metric>
        <Metric name="Paywall payments" note={<Money amount={sum(paywalls.data.map(({ amount }) => amount))} />}>
          {inCounts(sum(paywalls.data.map(({ paid }) => paid)))}
        </Metric>
        <Metric name="Runs" note="In 30 days">
          {inCounts(sum(runs.data.map(({ count }) => count)))}
        </Metric>
        <Metric name="Failed" note="Of these runs">
          {inCounts(sum(byDay.map(({ failed }) => failed)))}
        </Metric>
      </Metrics>
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <DayBars
          title="Money by day"
          label="USDC in and out by day, the last 30 days"
          rows={money.data}
          series={[
            { key: 'sales', name: 'Sales', tone: 'good' },
            { key: 'deposits', name: 'Deposits', tone: 'quiet' },
            { key: 'moneyOut', name: 'Out', tone: 'accent' },
          ]}
          days={DAYS}
          format={(value) => `${inUsdc(value)} USDC`}
        />
        <DayBars
          title="Runs by day"
          label="Runs by day, the last 30 days"
          rows={byDay}
          series={[
            { key: 'succeeded', name: 'Succeeded', tone: 'accent' },
            { key: 'failed', name: 'Failed', tone: 'bad' },
          ]}
          days={DAYS}
          format={inCounts}
        />
      </div>
    </>
  )
}

/** Adds in micro-USDC, so that nothing is lost by rounding. */
function sum(values: readonly number[]): number {
  return Math.round(values.reduce((all, value) => all + Math.round(value * 1e6), 0)) / 1e6
}

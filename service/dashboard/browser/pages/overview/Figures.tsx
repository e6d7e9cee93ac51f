import type { ReactNode } from 'react'
import { inUsdc } from '../../../../ui-kit/format.ts'
import { useRead, type Output } from '../../api/procedures.ts'
import { TextLink } from '../../parts/Button.tsx'
import { NameLink } from '../../parts/columns.tsx'
import { Day, namesOf, oneOf, Select, useFilter } from '../../parts/filters.tsx'
import { Card, DayBars, Metric, Metrics } from '../../parts/layout.tsx'
import { Failure, Skeleton } from '../../parts/states.tsx'
import { inCounts, Money } from '../../parts/values.tsx'
import { serviceNow } from '../../settings.ts'
import { daysBefore, daysIn, daysOf, SUM_PERIODS, type Days } from '../payments/period.ts'
import { Activity } from './Activity.tsx'

type Summary = Output<'payments.summary'>
type Conversion = Output<'checkouts.conversion'>

/** What came in over a period, from whom, and what failed, beside the period before. The period is in the address. */
export function Figures() {
  const { chosen, filterOf } = useFilter(['period', 'first', 'last'])
  const period = oneOf(chosen.period, namesOf(SUM_PERIODS)) ?? '30'
  const days = daysOf(period, serviceNow(), chosen)
  return (
    <section aria-label="Sales" className="space-y-6">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-base font-semibold">Sales</h2>
        <Select label="Period" options={SUM_PERIODS} {...filterOf('period')} value={period} />
        {period === 'days' && (
          <>
            <Day label="First day" {...filterOf('first')} value={days.first} />
            <Day label="Last day" {...filterOf('last')} value={days.last} />
          </>
        )}
      </div>
      <Sums days={days} />
      <Activity days={days} />
    </section>
  )
}

function Sums({ days }: { days: Days }) {
  const summary = useRead('payments.summary', days)
  const conversion = useRead('checkouts.conversion', days)
  const error = summary.error ?? conversion.error
  if (summary.data === undefined || conversion.data === undefined) {
    if (error === null) return <Skeleton className="h-80 w-full" />
    return <Failure fault={error} again={() => void Promise.all([summary.refetch(), conversion.refetch()])} />
  }
  const { now, before, days: byDay, failures } = summary.data
  const { all } = conversion.data
  return (
    <>
      <p className="text-[0.8125rem] text-quiet">
        {spanText(days)}, compared with {spanText(daysBefore(days))}. Days are in UTC.
      </p>
      <Metrics>
        <Metric name="Revenue" note={<Change now={now.revenue} before={before.revenue} format={inUsdc} />}>
          <Money amount={now.revenue} />
        </Metric>
        <CountMetric name="Payments" now={now.payments} before={before.payments} />
        <CountMetric name="New customers" now={now.newCustomers} before={before.newCustomers} />
        <CountMetric name="Returning customers" now={now.returningCustomers} before={before.returningCustomers} />
        <Metric name="Conversion" note={beforeText(all.before)}>
          {rateText(all)}
        </Metric>
        <CountMetric name="Failed payments" now={now.failed} before={before.failed} />
      </Metrics>
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <DayBars
          title="Revenue by day"
          label="Revenue by day in USDC, less refunds"
          rows={byDay}
          series={[{ key: 'revenue', name: 'Revenue', tone: 'good' }]}
          days={daysIn(days)}
          last={days.last}
          format={(value) => `${inUsdc(value)} USDC`}
        />
        <DayBars
          title="Payments by day"
          label="Payments by day"
          rows={byDay}
          series={[
            { key: 'payments', name: 'Paid', tone: 'accent' },
            { key: 'failed', name: 'Failed', tone: 'bad' },
          ]}
          days={daysIn(days)}
          last={days.last}
          format={inCounts}
        />
        <ConversionCard conversion={conversion.data} />
        <FailureCard failures={failures} />
      </div>
    </>
  )
}

function CountMetric({ name, now, before }: { name: string; now: number; before: number }) {
  return (
    <Metric name={name} note={<Change now={now} before={before} format={inCounts} />}>
      {inCounts(now)}
    </Metric>
  )
}

/** In percent where there was something before. */
function Change({ now, before, format }: { now: number; before: number; format: (value: number) => string }) {
  if (before === 0) return <>{format(before)} before</>
  const percent = Math.round(((now - before) / before) * 100)
  const sign = percent > 0 ? '+' : percent < 0 ? '−' : ''
  return (
    <>
      {sign}
      {inCounts(Math.abs(percent))}% from {format(before)}
    </>
  )
}

function ConversionCard({ conversion: { all, each } }: { conversion: Conversion }) {
  const more = all.checkouts - each.length
  return (
    <Card title="Conversion by checkout" flush>
      {each.length === 0 ? (
        <Nothing>
          A line appears here for each payment page that was opened, like “SEO audit, 3 of 40, 7.5%”.{' '}
          <TextLink to="/checkouts">Share a checkout</TextLink>
        </Nothing>
      ) : (
        <ul className="divide-y divide-line">
          {each.map(({ id, name, opened, paid, before }) => (
            <Line
              key={id}
              name={<NameLink to={`/checkouts/${String(id)}`}>{name ?? 'Checkout'}</NameLink>}
              note={beforeText(before)}
            >
              {inCounts(paid)} of {inCounts(opened)}, {rateText({ opened, paid })}
            </Line>
          ))}
        </ul>
      )}
      {more > 0 && <p className="border-t border-line px-4 py-2.5 text-quiet">And {inCounts(more)} more.</p>}
    </Card>
  )
}

function FailureCard({ failures }: { failures: Summary['failures'] }) {
  return (
    <Card title="Why payments failed" actions={<TextLink to="/payments?state=failed">View all</TextLink>} flush>
      {failures.length === 0 ? (
        <Nothing>No payment failed in this period. The reasons appear here, the most frequent first.</Nothing>
      ) : (
        <ul className="divide-y divide-line">
          {failures.map(({ reason, count }) => (
            <Line key={reason} name={reason ?? 'Without a reason'}>
              {inCounts(count)}
            </Line>
          ))}
        </ul>
      )}
    </Card>
  )
}

function Nothing({ children }: { children: ReactNode }) {
  return <p className="px-4 py-10 text-center text-quiet">{children}</p>
}

function Line({ name, note, children }: { name: ReactNode; note?: string; children: ReactNode }) {
  return (
    <li className="flex items-center gap-3 px-4 py-2.5">
      <span className="min-w-0 flex-1">{name}</span>
      {note !== undefined && <span className="text-[0.8125rem] text-quiet max-sm:hidden">{note}</span>}
      <span className="text-right whitespace-nowrap tabular-nums">{children}</span>
    </li>
  )
}

/** The page may have been opened on a day before the payment, so there can be more payments than openings. */
function rateText({ opened, paid }: { opened: number; paid: number }): string {
  if (opened === 0) return '–'
  return RATE.format(Math.min(1, paid / opened))
}

function beforeText(before: { opened: number; paid: number }): string {
  return before.opened === 0 ? 'Not opened before' : `${rateText(before)} before`
}

const RATE = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 })
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

function spanText({ first, last }: Days): string {
  return DATE.formatRange(new Date(first), new Date(last))
}

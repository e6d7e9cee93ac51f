import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { serviceNow } from '../settings.ts'
import { axisOf, tickOf } from '../../../ui-kit/format.ts'

export interface Series {
  key: string
  name: string
  tone: 'accent' | 'good' | 'bad' | 'quiet'
}

interface BarsProps {
  label: string
  rows: readonly ({ day: string } & Record<string, string | number>)[]
  series: readonly Series[]
  days: number
  /** The last of these days; today when absent. */
  last?: string
  format: (value: number) => string
}

/** Values by day; a day without any shows zero. Screen readers get the table. */
export default function Bars({ label, rows, series, days, last, format }: BarsProps) {
  const end = last === undefined ? serviceNow() : Date.parse(last)
  const known = new Map(rows.map((row) => [row.day.slice(0, 10), row]))
  const all = Array.from({ length: days }, (_, at) => {
    const day = new Date(end - (days - 1 - at) * DAY_MS).toISOString().slice(0, 10)
    return { ...Object.fromEntries(series.map(({ key }) => [key, 0])), ...known.get(day), day }
  })
  if (rows.every((row) => series.every(({ key }) => Number(row[key] ?? 0) === 0))) {
    // Without a value there is no scale to draw.
    return (
      <figure className="py-8 text-center">
        <figcaption className="text-quiet">
          {last === undefined ? `No activity in the last ${String(days)} days.` : 'No activity in this period.'}
        </figcaption>
      </figure>
    )
  }
  // Counts have no fractions on their axis.
  const areWhole = rows.every((row) => series.every(({ key }) => Number.isInteger(Number(row[key] ?? 0))))
  const ticks = axisOf(Math.max(...rows.flatMap((row) => series.map(({ key }) => Number(row[key] ?? 0)))), { areWhole })
  return (
    <figure>
      <div aria-hidden className="h-52">
        <ResponsiveContainer width="100%" height="100%" initialDimension={{ width: 600, height: 208 }}>
          <BarChart data={all} margin={{ top: 6, right: 0, bottom: 0, left: 0 }} accessibilityLayer={false}>
            <CartesianGrid vertical={false} stroke="var(--line)" />
            <XAxis
              dataKey="day"
              tickFormatter={dayOf}
              tickLine={false}
              axisLine={false}
              minTickGap={28}
              tick={{ fill: 'var(--quiet)', fontSize: 12 }}
            />
            <YAxis
              width={52}
              ticks={[...ticks]}
              domain={[0, ticks.at(-1) ?? 1]}
              interval={0}
              tickLine={false}
              axisLine={false}
              tick={{ fill: 'var(--quiet)', fontSize: 12 }}
              tickFormatter={tickOf}
            />
            <Tooltip
              cursor={{ fill: 'var(--sunk)' }}
              isAnimationActive={false}
              content={({ active, label: day, payload }) =>
                active ? (
                  <div className="rounded-lg bg-paper px-3 py-2 text-[0.8125rem] shadow-lift">
                    <p className="mb-1 font-medium">{dayOf(String(day))}</p>
                    {payload.map(({ dataKey, name, value }) => (
                      <p key={String(dataKey)} className="tabular-nums">
                        {name}: {format(Number(value))}
                      </p>
                    ))}
                  </div>
                ) : null
              }
            />
            {series.map(({ key, name, tone }) => (
              <Bar
                key={key}
                dataKey={key}
                name={name}
                fill={`var(--${tone})`}
                radius={[2, 2, 0, 0]}
                maxBarSize={18}
                isAnimationActive={false}
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
      <figcaption className="sr-only">{label}</figcaption>
      <BarsTable label={label} rows={rows} series={series} format={format} />
      {series.length > 1 && (
        <p aria-hidden className="mt-2 flex gap-4 text-[0.8125rem] text-quiet">
          {series.map(({ key, name, tone }) => (
            <span key={key} className="inline-flex items-center gap-1.5">
              <span className={`size-2.5 rounded-sm ${TONES[tone]}`} /> {name}
            </span>
          ))}
        </p>
      )}
    </figure>
  )
}

/** The same values for screen readers. */
function BarsTable({ label, rows, series, format }: Omit<BarsProps, 'days' | 'last'>) {
  return (
    <table className="sr-only">
      <caption>{label}</caption>
      <thead>
        <tr>
          <th scope="col">Day</th>
          {series.map(({ key, name }) => (
            <th key={key} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.day}>
            <th scope="row">{row.day.slice(0, 10)}</th>
            {series.map(({ key }) => (
              <td key={key}>{format(Number(row[key] ?? 0))}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const DAY_MS = 86_400_000
const TONES: Record<Series['tone'], string> = { accent: 'bg-accent', good: 'bg-good', bad: 'bg-bad', quiet: 'bg-quiet' }
const DAYS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

function dayOf(day: string): string {
  return DAYS.format(new Date(day))
}

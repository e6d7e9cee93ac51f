import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { serviceNow } from '../settings.ts'
import { tickOf } from './ticks.ts'

export interface Series {
  key: string
  name: string
  tone: 'accent' | 'good' | 'bad' | 'quiet'
}

/** Figures by day; days without any are there too, with nothing. Whoever cannot see it gets the table. */
export default function Bars({
  label,
  rows,
  series,
  days,
  show,
}: {
  label: string
  rows: readonly ({ day: string } & Record<string, string | number>)[]
  series: readonly Series[]
  days: number
  show: (value: number) => string
}) {
  const known = new Map(rows.map((row) => [row.day.slice(0, 10), row]))
  const all = Array.from({ length: days }, (_, at) => {
    const day = new Date(serviceNow() - (days - 1 - at) * DAY_MS).toISOString().slice(0, 10)
    return { ...Object.fromEntries(series.map(({ key }) => [key, 0])), ...known.get(day), day }
  })
  if (rows.every((row) => series.every(({ key }) => Number(row[key] ?? 0) === 0))) {
    // Axes around nothing would have to invent a scale.
    return (
      <figure className="grid h-52 place-items-center rounded-lg bg-side">
        <figcaption className="text-quiet">Nothing in these {days} days.</figcaption>
      </figure>
    )
  }
  // Nobody runs half a workflow.
  const areWhole = rows.every((row) => series.every(({ key }) => Number.isInteger(Number(row[key] ?? 0))))
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
              allowDecimals={!areWhole}
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
                        {name}: {show(Number(value))}
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
                <td key={key}>{show(Number(row[key] ?? 0))}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
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

const DAY_MS = 86_400_000
const TONES: Record<Series['tone'], string> = { accent: 'bg-accent', good: 'bg-good', bad: 'bg-bad', quiet: 'bg-quiet' }
const DAYS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

function dayOf(day: string): string {
  return DAYS.format(new Date(day))
}

import type { Output } from '../../api/procedures.ts'
import { StateBadge } from '../../parts/Badge.tsx'
import { durationColumn, moneyColumn, timeColumn, type Column } from '../../parts/columns.tsx'
import { Select, type Filter } from '../../parts/filters.tsx'

export const STATES = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const

export function StateFilter(filter: Filter) {
  return <Select label="State" all="All states" {...filter} options={STATES.map((each) => [each, each] as const)} />
}

/** The columns of every list of runs. */
type RunLine = Pick<
  Output<'runs.list'>['runs'][number],
  'id' | 'status' | 'error' | 'modelId' | 'duration' | 'createdAt' | 'cost'
>

/** `first` is the column that names the run in this list; `more` has the columns of this list only. */
export function runColumns<Line extends RunLine>(
  first: Column<Line> | null,
  more: Column<Line>[] = [],
): Column<Line>[] {
  return [
    ...(first === null ? [] : [first]),
    {
      title: 'State',
      render: ({ status, error }) => (
        <div className="min-w-0">
          <StateBadge state={status} />
          {error !== null && <span className="mt-0.5 block text-[0.8125rem] break-words text-quiet">{error}</span>}
        </div>
      ),
      csv: ({ status }) => status,
    },
    {
      title: 'Run',
      render: ({ id }) => <code className="font-mono text-[0.8125rem] break-all text-quiet">{id}</code>,
      csv: ({ id }) => id,
      wide: true,
    },
    ...more,
    {
      title: 'Model',
      render: ({ modelId }) => <span className="block truncate">{modelId ?? '–'}</span>,
      csv: ({ modelId }) => modelId,
      wide: true,
    },
    durationColumn('Took', ({ duration }) => duration),
    timeColumn('Started', ({ createdAt }) => createdAt, { wide: first !== null }),
    moneyColumn('Cost', ({ cost }) => cost),
  ]
}

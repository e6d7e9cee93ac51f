import { StateBadge } from '../../parts/Badge.tsx'
import { Duration, Money, When } from '../../parts/figures.tsx'
import { Select } from '../../parts/filters.tsx'
import type { Column } from '../../parts/List.tsx'

export const STATES = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const
type RunState = (typeof STATES)[number]

export function StateFilter({ status, choose }: { status: RunState | undefined; choose: (state: string) => void }) {
  const options = [['', 'All states'], ...STATES.map((each) => [each, each] as const)] as const
  return <Select label="State" value={status ?? ''} options={options} choose={choose} />
}

/** What every list of runs shows of one, whoever ran it. */
interface RunLine {
  id: string
  status: RunState
  error: string | null
  modelId: string | null
  duration: number | null
  createdAt: string
  cost: number
}

/** `first` is what names the run in this list, `more` what this list alone shows. */
export function runColumns<Line extends RunLine>(
  first: Column<Line> | null,
  more: Column<Line>[] = [],
): Column<Line>[] {
  return [
    ...(first === null ? [] : [first]),
    {
      title: 'State',
      show: ({ status, error }) => (
        <div className="min-w-0">
          <StateBadge state={status} />
          {error !== null && <span className="mt-0.5 block text-[0.8125rem] break-words text-quiet">{error}</span>}
        </div>
      ),
      csv: ({ status }) => status,
    },
    {
      title: 'Run',
      show: ({ id }) => <code className="font-mono text-[0.8125rem] break-all text-quiet">{id}</code>,
      csv: ({ id }) => id,
      wide: true,
    },
    ...more,
    {
      title: 'Model',
      show: ({ modelId }) => <span className="block truncate">{modelId ?? '–'}</span>,
      csv: ({ modelId }) => modelId,
      wide: true,
    },
    {
      title: 'Took',
      end: true,
      show: ({ duration }) => <Duration ms={duration} />,
      csv: ({ duration }) => duration,
      wide: true,
    },
    {
      title: 'Started',
      show: ({ createdAt }) => <When at={createdAt} />,
      csv: ({ createdAt }) => createdAt,
      wide: first !== null,
    },
    { title: 'Cost', end: true, show: ({ cost }) => <Money amount={cost} />, csv: ({ cost }) => cost },
  ]
}

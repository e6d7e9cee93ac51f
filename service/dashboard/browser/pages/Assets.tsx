import { PlusIcon } from '@radix-ui/react-icons'
import { useAsk } from '../api/ask.ts'
import { Badge } from '../parts/Badge.tsx'
import { NameLink, timeColumn } from '../parts/columns.tsx'
import { LinkButton } from '../parts/Button.tsx'
import { Dash, inCounts } from '../parts/figures.tsx'
import { namesOf, oneOf, useFilter } from '../parts/filters.tsx'
import { PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { Price, Rating, type AssetLine } from './marketplace/shown.tsx'

const STATES = [
  ['published', 'Published'],
  ['draft', 'Drafts'],
  ['archived', 'Archived'],
] as const
type State = (typeof STATES)[number][0]

export default function Assets() {
  const { chosen, filterOf } = useFilter(['status'])
  const status = oneOf(chosen.status, namesOf(STATES)) ?? 'published'
  const create = (
    <LinkButton to="/assets/new" look="main">
      <PlusIcon /> New asset
    </LinkButton>
  )
  return (
    <>
      <PageHead title="Assets" actions={create}>
        What you built for others to run: a prompt, an agent of yours, or an API.
      </PageHead>
      <List
        path="assets.list"
        filter={{ mine: true, status }}
        rows={({ assets }) => assets}
        name="Assets"
        columns={COLUMNS}
        href={({ id }) => `/assets/${id}`}
        controls={
          <div role="group" aria-label="State" className="flex rounded-[7px] bg-sunk p-0.5">
            {STATES.map(([state, name]) => (
              <button
                key={state}
                type="button"
                aria-pressed={state === status}
                onClick={() => filterOf('status').choose(state)}
                className={`h-7 rounded-md px-2.5 text-[0.8125rem] ${state === status ? 'bg-paper font-medium shadow-sm' : 'text-quiet hover:text-ink'}`}
              >
                {name} <Count state={state} />
              </button>
            ))}
          </div>
        }
        empty={
          status === 'published' ? (
            <Empty title="You have published nothing yet" action={create}>
              Write a prompt, or connect an agent or API of yours, put a price on it and be paid for each run.
            </Empty>
          ) : status === 'draft' ? (
            <Empty title="No drafts" action={create}>
              A new asset begins as a draft that only you can run.
            </Empty>
          ) : (
            <Empty title="Nothing is archived">What you archive leaves the marketplace for good.</Empty>
          )
        }
      />
    </>
  )
}

function Count({ state }: { state: State }) {
  const { data } = useAsk('assets.list', { mine: true, status: state, limit: 1, offset: 0 })
  return data === undefined ? null : <span className="text-quiet tabular-nums">{inCounts(data.total)}</span>
}

const COLUMNS: Column<AssetLine>[] = [
  {
    title: 'Name',
    show: ({ id, name, slug }) => (
      <>
        <NameLink to={`/assets/${id}`}>{name}</NameLink>
        <code className="block truncate font-mono text-xs text-quiet">{slug}</code>
      </>
    ),
    csv: ({ name }) => name,
  },
  { title: 'Type', show: ({ type }) => <Badge>{type}</Badge>, csv: ({ type }) => type, wide: true },
  {
    title: 'Runs',
    end: true,
    show: ({ stats }) => <span className="tabular-nums">{inCounts(stats.totalRuns)}</span>,
    csv: ({ stats }) => stats.totalRuns,
    wide: true,
  },
  {
    title: 'Succeeded',
    end: true,
    show: ({ stats }) => (stats.totalRuns === 0 ? <Dash /> : `${stats.successRate.toFixed(0)} %`),
    csv: ({ stats }) => stats.successRate,
    wide: true,
  },
  {
    title: 'Rating',
    end: true,
    show: ({ stats }) => <Rating stars={stats.averageRating} />,
    csv: ({ stats }) => stats.averageRating,
    wide: true,
  },
  timeColumn('Changed', ({ updatedAt }) => updatedAt, { wide: true }),
  {
    title: 'Price',
    end: true,
    show: ({ pricing }) => <Price pricing={pricing} />,
    csv: ({ pricing }) => pricing.amount,
  },
]

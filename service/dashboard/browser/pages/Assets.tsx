import { PlusIcon } from '@radix-ui/react-icons'
import { useRead } from '../api/procedures.ts'
import { NameLink, timeColumn, type Column } from '../parts/columns.tsx'
import { LinkButton } from '../parts/Button.tsx'
import { Dash, inCounts } from '../parts/values.tsx'
import { namesOf, oneOf, useFilter } from '../parts/filters.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { PRICE, RATING, RUNS, TYPE, type AssetLine } from './marketplace/cells.tsx'

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
    <LinkButton to="/assets/new" variant="main">
      <PlusIcon /> Create asset
    </LinkButton>
  )
  return (
    <Page title="Assets" actions={create} intro="Prompts, agents and APIs that you sell by the run.">
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
            <Empty title="No published assets yet" action={create}>
              Create a prompt or connect your agent or API, set a price, and earn on each run.
            </Empty>
          ) : status === 'draft' ? (
            <Empty title="No drafts yet" action={create}>
              Create an asset: it starts as a draft that only you can run.
            </Empty>
          ) : (
            <Empty title="No archived assets">Assets that you archive leave the marketplace and appear here.</Empty>
          )
        }
      />
    </Page>
  )
}

function Count({ state }: { state: State }) {
  const { data } = useRead('assets.list', { mine: true, status: state, limit: 1, offset: 0 })
  return data === undefined ? null : <span className="text-quiet tabular-nums">{inCounts(data.total)}</span>
}

const COLUMNS: Column<AssetLine>[] = [
  {
    title: 'Name',
    render: ({ id, name, slug }) => (
      <>
        <NameLink to={`/assets/${id}`}>{name}</NameLink>
        <code className="block truncate font-mono text-xs text-quiet">{slug}</code>
      </>
    ),
    csv: ({ name }) => name,
  },
  TYPE,
  RUNS,
  {
    title: 'Success rate',
    end: true,
    render: ({ stats }) => (stats.totalRuns === 0 ? <Dash /> : `${stats.successRate.toFixed(0)} %`),
    csv: ({ stats }) => stats.successRate,
    wide: true,
  },
  RATING,
  timeColumn('Changed', ({ updatedAt }) => updatedAt, { wide: true }),
  PRICE,
]

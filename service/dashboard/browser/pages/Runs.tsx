import type { Output } from '../api/ask.ts'
import { LinkButton } from '../parts/Button.tsx'
import { nameColumn } from '../parts/columns.tsx'
import { oneOf, Search, useFilter } from '../parts/filters.tsx'
import { PageHead } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { runColumns, StateFilter, STATES } from './runs/rows.tsx'

type RunLine = Output<'runs.list'>['runs'][number]

export default function Runs() {
  const { chosen, filterOf, filtered } = useFilter(['status', 'rda'])
  const status = oneOf(chosen.status, STATES)
  return (
    <>
      <PageHead title="Runs">What you ran, newest first.</PageHead>
      <List
        path="runs.list"
        filter={{
          ...(status === undefined ? {} : { status }),
          ...(chosen.rda === undefined ? {} : { rda: chosen.rda }),
        }}
        filtered={filtered}
        rows={({ runs }) => runs}
        name="Runs"
        columns={RUNS}
        href={({ id }) => `/runs/${id}`}
        controls={
          <>
            <StateFilter {...filterOf('status')} />
            <Search label="Slug or id of an asset" {...filterOf('rda')} />
          </>
        }
        empty={
          <Empty
            title="No runs yet"
            action={
              <LinkButton to="/marketplace" look="main">
                Browse the marketplace
              </LinkButton>
            }
          >
            Run something from the marketplace: what it is given, what comes out and what it costs is kept here.
          </Empty>
        }
      />
    </>
  )
}

const RUNS = runColumns<RunLine>(
  nameColumn(
    'Asset',
    ({ rdaSlug }) => rdaSlug,
    ({ id }) => `/runs/${id}`,
  ),
)

import type { Output } from '../api/procedures.ts'
import { LinkButton } from '../parts/Button.tsx'
import { nameColumn } from '../parts/columns.tsx'
import { oneOf, Search, useFilter } from '../parts/filters.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { runColumns, StateFilter, STATES } from './runs/rows.tsx'

type RunLine = Output<'runs.list'>['runs'][number]

export default function Runs() {
  const { chosen, filterOf, filtered } = useFilter(['status', 'rda'])
  const status = oneOf(chosen.status, STATES)
  return (
    <Page title="Runs" intro="Your runs, newest first.">
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
            <Search label="Asset slug or ID" {...filterOf('rda')} />
          </>
        }
        empty={
          <Empty
            title="No runs yet"
            action={
              <LinkButton to="/marketplace" variant="main">
                Browse the marketplace
              </LinkButton>
            }
          >
            Run an asset from the marketplace. Its input, output and cost appear here.
          </Empty>
        }
      />
    </Page>
  )
}

const RUNS = runColumns<RunLine>(nameColumn('Asset', ({ rdaSlug }) => rdaSlug, '/runs'))

import { Link } from 'wouter'
import type { Output } from '../api/ask.ts'
import { LinkButton } from '../parts/Button.tsx'
import { oneOf, Search, useFilter } from '../parts/filters.tsx'
import { Card, PageHead } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { runColumns, StateFilter, STATES } from './runs/rows.tsx'

type RunLine = Output<'runs.list'>['runs'][number]

export default function Runs() {
  const { values, set, filtered } = useFilter(['status', 'rda'])
  const status = oneOf(values.status, STATES)
  return (
    <>
      <PageHead title="Runs">What you ran, newest first.</PageHead>
      <Card flush>
        <List
          path="runs.list"
          filter={{ ...(status === undefined ? {} : { status }), ...(values.rda === '' ? {} : { rda: values.rda }) }}
          filtered={filtered}
          rows={({ runs }) => runs}
          name="Runs"
          columns={RUNS}
          href={({ id }) => `/runs/${id}`}
          controls={
            <>
              <StateFilter
                status={status}
                choose={(value) => {
                  set('status', value)
                }}
              />
              <Search
                label="Slug or id of an asset"
                value={values.rda}
                search={(text) => {
                  set('rda', text)
                }}
              />
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
      </Card>
    </>
  )
}

const RUNS = runColumns<RunLine>({
  title: 'Asset',
  show: ({ id, rdaSlug }) => (
    <Link to={`/runs/${id}`} className="block truncate font-medium hover:underline">
      {rdaSlug}
    </Link>
  ),
  csv: ({ rdaSlug }) => rdaSlug,
})

import { Link } from 'wouter'
import type { Output } from '../api/ask.ts'
import { StateBadge } from '../parts/Badge.tsx'
import { LinkButton } from '../parts/Button.tsx'
import { Duration, Money, When } from '../parts/figures.tsx'
import { oneOf, Search, Select, useFilter } from '../parts/filters.tsx'
import { Card, PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'

type RunLine = Output<'runs.list'>['runs'][number]

const STATES = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const

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
              <Select
                label="State"
                value={status ?? ''}
                options={[['', 'All states'], ...STATES.map((each) => [each, each] as const)]}
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

const RUNS: Column<RunLine>[] = [
  {
    title: 'Asset',
    show: ({ id, rdaSlug }) => (
      <Link to={`/runs/${id}`} className="block truncate font-medium hover:underline">
        {rdaSlug}
      </Link>
    ),
    csv: ({ rdaSlug }) => rdaSlug,
  },
  { title: 'State', show: ({ status }) => <StateBadge state={status} />, csv: ({ status }) => status },
  {
    title: 'Run',
    show: ({ id }) => <code className="font-mono text-[0.8125rem] text-quiet">{id}</code>,
    csv: ({ id }) => id,
    wide: true,
  },
  {
    title: 'Took',
    end: true,
    show: ({ duration }) => <Duration ms={duration} />,
    csv: ({ duration }) => duration,
    wide: true,
  },
  { title: 'Started', show: ({ createdAt }) => <When at={createdAt} />, csv: ({ createdAt }) => createdAt, wide: true },
  { title: 'Cost', end: true, show: ({ cost }) => <Money amount={cost} />, csv: ({ cost }) => cost },
]

import { PlusIcon } from '@radix-ui/react-icons'
import { Link } from 'wouter'
import { Badge } from '../parts/Badge.tsx'
import { stateColumn, textColumn, timeColumn } from '../parts/columns.tsx'
import { LinkButton } from '../parts/Button.tsx'
import { Id } from '../parts/figures.tsx'
import { PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import type { Paywall } from './paywalls/draft.ts'

export default function Paywalls() {
  const create = (
    <LinkButton to="/paywalls/new" look="main">
      <PlusIcon /> New paywall
    </LinkButton>
  )
  return (
    <>
      <PageHead title="Paywalls" actions={create}>
        A price on any HTTP API, paid by the request.
      </PageHead>
      <List
        path="paywalls.list"
        rows={({ paywalls }) => paywalls}
        name="Paywalls"
        columns={COLUMNS}
        href={({ id }) => `/paywalls/${id}`}
        empty={
          <Empty title="No paywalls yet" action={create}>
            Give the address of an API and a price: agents and programs then pay for each call, without an account.
          </Empty>
        }
      />
    </>
  )
}

const COLUMNS: Column<Paywall>[] = [
  {
    title: 'Name',
    show: ({ id, name, testMode }) => (
      <span className="flex min-w-0 flex-wrap items-center gap-1.5">
        <Link to={`/paywalls/${id}`} className="truncate font-medium hover:underline">
          {name}
        </Link>
        {testMode && <Badge tone="warn">test mode</Badge>}
      </span>
    ),
    csv: ({ name }) => name,
  },
  stateColumn('State', ({ status }) => status),
  { title: 'Address', show: ({ url }) => <Id value={url} whole />, csv: ({ url }) => url, wide: true },
  textColumn('Routes', ({ routes }) => routes.length, { end: true, wide: true }),
  timeColumn('Changed', ({ updatedAt }) => updatedAt, { end: true, wide: true }),
]

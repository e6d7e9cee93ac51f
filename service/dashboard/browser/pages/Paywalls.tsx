import { PlusIcon } from '@radix-ui/react-icons'
import { Link } from 'wouter'
import { Badge, StateBadge } from '../parts/Badge.tsx'
import { LinkButton } from '../parts/Button.tsx'
import { Id, When } from '../parts/figures.tsx'
import { Card, PageHead } from '../parts/layout.tsx'
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
      <Card flush>
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
      </Card>
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
  { title: 'State', show: ({ status }) => <StateBadge state={status} />, csv: ({ status }) => status },
  { title: 'Address', show: ({ url }) => <Id value={url} whole />, csv: ({ url }) => url, wide: true },
  { title: 'Routes', end: true, show: ({ routes }) => routes.length, csv: ({ routes }) => routes.length, wide: true },
  {
    title: 'Changed',
    end: true,
    show: ({ updatedAt }) => <When at={updatedAt} />,
    csv: ({ updatedAt }) => updatedAt,
    wide: true,
  },
]

import { PlusIcon } from '@radix-ui/react-icons'
import { useSearchParams } from 'wouter'
import { Badge, StateBadge } from '../parts/Badge.tsx'
import { nameColumn, timeColumn } from '../parts/columns.tsx'
import { Button } from '../parts/Button.tsx'
import { PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { Deliveries } from './deliveries/Deliveries.tsx'
import { EndpointForm, type Endpoint } from './webhooks/EndpointForm.tsx'

export default function Webhooks() {
  const [params, setParams] = useSearchParams()
  const create = (
    <Button look="main" onClick={() => setParams({ new: '1' })}>
      <PlusIcon /> Add endpoint
    </Button>
  )
  return (
    <>
      <PageHead title="Webhooks" actions={create}>
        Addresses of yours that are told when something happens.
      </PageHead>
      <div className="space-y-6">
        <List
          path="webhooks.list"
          rows={({ endpoints }) => endpoints}
          name="Endpoints"
          title="Endpoints"
          columns={COLUMNS}
          href={({ id }) => `/webhooks/${id}`}
          empty={
            <Empty title="No endpoints yet" action={create}>
              Add an address of your server, choose what it wants to know, and send it a test.
            </Empty>
          }
        />
        <Deliveries />
      </div>
      {params.get('new') !== null && <EndpointForm close={() => setParams({})} />}
    </>
  )
}

const COLUMNS: Column<Endpoint>[] = [
  nameColumn(
    'Address',
    ({ url }) => url,
    ({ id }) => `/webhooks/${id}`,
  ),
  {
    title: 'Events',
    show: ({ events }) => (
      <span title={events.join(', ')}>{events.length === 1 ? events[0] : `${String(events.length)} events`}</span>
    ),
    csv: ({ events }) => events.join(' '),
    wide: true,
  },
  {
    title: 'State',
    show: ({ status, failingSince }) =>
      status === 'enabled' && failingSince !== null ? <Badge tone="bad">failing</Badge> : <StateBadge state={status} />,
    csv: ({ status }) => status,
  },
  timeColumn('Created', ({ createdAt }) => createdAt, { wide: true }),
]

import { PlusIcon } from '@radix-ui/react-icons'
import { useSearchParams } from 'wouter'
import { Badge, StateBadge } from '../parts/Badge.tsx'
import { nameColumn, timeColumn, type Column } from '../parts/columns.tsx'
import { Button } from '../parts/Button.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { Deliveries } from './deliveries/Deliveries.tsx'
import { EndpointForm, type Endpoint } from './webhooks/EndpointForm.tsx'

export default function Webhooks() {
  const [params, setParams] = useSearchParams()
  const create = (
    <Button variant="main" onClick={() => setParams({ new: '1' })}>
      <PlusIcon /> Add endpoint
    </Button>
  )
  return (
    <Page title="Webhooks" actions={create} intro="Endpoints of your servers that receive events.">
      <List
        path="webhooks.list"
        rows={({ endpoints }) => endpoints}
        name="Endpoints"
        titled
        columns={COLUMNS}
        href={({ id }) => `/webhooks/${id}`}
        empty={
          <Empty title="No endpoints yet" action={create}>
            Add the URL of your server, choose its events, and send a test event.
          </Empty>
        }
      />
      <Deliveries />
      {params.get('new') !== null && <EndpointForm close={() => setParams({})} />}
    </Page>
  )
}

const COLUMNS: Column<Endpoint>[] = [
  nameColumn('URL', ({ url }) => url, '/webhooks'),
  {
    title: 'Events',
    render: ({ events }) => (
      <span title={events.join(', ')}>{events.length === 1 ? events[0] : `${String(events.length)} events`}</span>
    ),
    csv: ({ events }) => events.join(' '),
    wide: true,
  },
  {
    title: 'State',
    render: ({ status, failingSince }) =>
      status === 'enabled' && failingSince !== null ? <Badge tone="bad">failing</Badge> : <StateBadge state={status} />,
    csv: ({ status }) => status,
  },
  timeColumn('Created', ({ createdAt }) => createdAt, { wide: true }),
]

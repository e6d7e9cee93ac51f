import { Pencil1Icon } from '@radix-ui/react-icons'
import { useLocation, useParams } from 'wouter'
import { foreseen, useAct, useAsk } from '../api/ask.ts'
import { useAsking } from '../parts/asking.ts'
import { Badge, StateBadge } from '../parts/Badge.tsx'
import { Button } from '../parts/Button.tsx'
import { Id, When } from '../parts/figures.tsx'
import { Card, Facts, PageHead } from '../parts/layout.tsx'
import { Confirm } from '../parts/Modal.tsx'
import { NewSecret } from '../parts/NewSecret.tsx'
import { Awaited, Notice } from '../parts/states.tsx'
import { say } from '../shell/toasts.ts'
import { Deliveries } from './deliveries/Deliveries.tsx'
import { EndpointForm } from './webhooks/EndpointForm.tsx'

export default function Webhook() {
  const { id } = useParams<{ id: string }>()
  const [, go] = useLocation()
  const asking = useAsking<'edit' | 'remove' | 'rotate'>()
  const endpoint = useAsk('webhooks.get', { id })
  const { close } = asking
  const change = useAct('webhooks.change', {
    changes: ['webhooks.'],
    foresees: ({ status = 'enabled' }) => [
      foreseen('webhooks.get', (before) => (before.id === id ? { ...before, status } : before)),
    ],
  })
  const test = useAct('webhooks.test', {
    changes: ['deliveries.'],
    done: ({ deliveries }) => {
      const text = deliveries.length === 1 ? 'A test event is on its way.' : 'A test event of each type is on its way.'
      say({ tone: 'good', text })
    },
  })
  const rotate = useAct('webhooks.rotate', { changes: ['webhooks.'] })
  const remove = useAct('webhooks.remove', {
    changes: ['webhooks.list'],
    done: () => {
      say({ tone: 'good', text: 'Removed: it is told nothing more.' })
      go('/webhooks')
    },
  })
  if (endpoint.data === undefined) return <Awaited of={endpoint} />
  const { data } = endpoint
  const isOn = data.status === 'enabled'
  return (
    <>
      <PageHead
        title={data.url}
        note={<StateBadge state={data.status} />}
        back={{ to: '/webhooks', name: 'Webhooks' }}
        actions={
          <>
            <Button look="danger" onClick={asking.begin('remove')}>
              Remove
            </Button>
            <Button onClick={asking.begin('rotate')}>New secret</Button>
            <Button onClick={() => change.mutate({ id, status: isOn ? 'disabled' : 'enabled' })}>
              {isOn ? 'Disable' : 'Enable'}
            </Button>
            <Button onClick={asking.begin('edit')}>
              <Pencil1Icon /> Edit
            </Button>
            <Button look="main" busy={test.isPending} onClick={() => test.mutate({ id })}>
              Send a test
            </Button>
          </>
        }
      />
      <div className="space-y-6">
        {isOn && data.failingSince !== null && (
          <Notice tone="warn">
            Nothing but failures since <When at={data.failingSince} />. After five days it is disabled.
          </Notice>
        )}
        <Card title="Endpoint">
          <Facts
            facts={[
              ['Id', <Id key="id" value={data.id} whole />],
              [
                'Events',
                <span key="events" className="flex flex-wrap gap-1">
                  {data.events.map((event) => (
                    <Badge key={event}>{event}</Badge>
                  ))}
                </span>,
              ],
              ['Created', <When key="created" at={data.createdAt} />],
              data.disabledAt === null ? null : ['Disabled', <When key="disabled" at={data.disabledAt} />],
            ]}
          />
        </Card>
        <Deliveries target={id} />
      </div>
      {asking.asked === 'edit' && <EndpointForm endpoint={data} close={close} />}
      <Confirm
        title="Remove this endpoint?"
        act="Remove it"
        open={asking.asked === 'remove'}
        close={close}
        confirm={() => remove.mutate({ id })}
      >
        It is told nothing more, and what still waits for it is not sent.
      </Confirm>
      <NewSecret
        id={id}
        open={asking.asked === 'rotate'}
        note="The old secret stays valid for 24 hours, so that you can change it without losing anything."
        rotate={rotate}
        close={close}
      />
    </>
  )
}

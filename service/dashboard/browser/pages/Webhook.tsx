import { Pencil1Icon } from '@radix-ui/react-icons'
import { useLocation, useParams } from 'wouter'
import { foreseenFields, useAction, useRead } from '../api/procedures.ts'
import { useDialog, Confirm } from '../parts/Modal.tsx'
import { Badges, StateBadge } from '../parts/Badge.tsx'
import { Button } from '../parts/Button.tsx'
import { Id, When } from '../parts/values.tsx'
import { Card, Facts, Page } from '../parts/layout.tsx'
import { RotateSecret } from '../parts/Secret.tsx'
import { Loaded, Notice } from '../parts/states.tsx'
import { toast } from '../shell/toast.ts'
import { Deliveries } from './deliveries/Deliveries.tsx'
import { EndpointForm, type Endpoint } from './webhooks/EndpointForm.tsx'

export default function WebhookRoute() {
  const { id } = useParams<{ id: string }>()
  const endpoint = useRead('webhooks.get', { id })
  return <Loaded of={endpoint}>{(data) => <EndpointPage endpoint={data} />}</Loaded>
}

function EndpointPage({ endpoint }: { endpoint: Endpoint }) {
  const { id, status, failingSince, createdAt, disabledAt } = endpoint
  return (
    <Page
      title={endpoint.url}
      note={<StateBadge state={status} />}
      back={{ to: '/webhooks', name: 'Webhooks' }}
      actions={<Actions endpoint={endpoint} />}
    >
      {status === 'enabled' && failingSince !== null && (
        <Notice tone="warn">
          Every delivery has failed since <When at={failingSince} />. After five days the endpoint is disabled.
        </Notice>
      )}
      <Card title="Endpoint">
        <Facts
          facts={[
            ['ID', <Id key="id" value={id} whole />],
            ['Events', <Badges key="events" texts={endpoint.events} />],
            ['Created', <When key="created" at={createdAt} />],
            disabledAt === null ? null : ['Disabled', <When key="disabled" at={disabledAt} />],
          ]}
        />
      </Card>
      <Deliveries target={id} />
    </Page>
  )
}

function Actions({ endpoint }: { endpoint: Endpoint }) {
  const { id } = endpoint
  const [, go] = useLocation()
  const dialog = useDialog<'edit' | 'remove' | 'rotate'>()
  const isOn = endpoint.status === 'enabled'
  const change = useAction('webhooks.change', {
    changes: ['webhooks.'],
    foresees: ({ status = 'enabled' }) => [foreseenFields('webhooks.get', id, { status })],
  })
  const test = useAction('webhooks.test', {
    changes: ['deliveries.'],
    done: ({ deliveries }) => {
      const text = deliveries.length === 1 ? 'A test event is on its way.' : 'A test event of each type is on its way.'
      toast({ tone: 'good', text })
    },
  })
  const rotate = useAction('webhooks.rotate', { changes: ['webhooks.'] })
  const remove = useAction('webhooks.remove', {
    changes: ['webhooks.list'],
    done: () => {
      toast({ tone: 'good', text: 'Endpoint removed.' })
      go('/webhooks')
    },
  })
  return (
    <>
      <Button variant="danger" onClick={dialog.open('remove')}>
        Remove
      </Button>
      <Button onClick={dialog.open('rotate')}>Rotate secret</Button>
      <Button onClick={() => change.mutate({ id, status: isOn ? 'disabled' : 'enabled' })}>
        {isOn ? 'Disable' : 'Enable'}
      </Button>
      <Button onClick={dialog.open('edit')}>
        <Pencil1Icon /> Edit
      </Button>
      <Button variant="main" busy={test.isPending} onClick={() => test.mutate({ id })}>
        Send test event
      </Button>
      {dialog.shown === 'edit' && <EndpointForm endpoint={endpoint} close={dialog.close} />}
      <Confirm
        title="Remove this endpoint?"
        act="Remove endpoint"
        open={dialog.shown === 'remove'}
        close={dialog.close}
        confirm={() => remove.mutate({ id })}
      >
        It receives no more events, and pending deliveries to it are not sent.
      </Confirm>
      <RotateSecret
        id={id}
        open={dialog.shown === 'rotate'}
        note="The old secret stays valid for 24 hours, so that you can switch without losing deliveries."
        rotate={rotate}
        close={dialog.close}
      />
    </>
  )
}

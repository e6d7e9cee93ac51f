import { PlusIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { useAction } from '../api/procedures.ts'
import { Badge } from '../parts/Badge.tsx'
import { Button } from '../parts/Button.tsx'
import { timeColumn, type Column } from '../parts/columns.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Confirm } from '../parts/Modal.tsx'
import { Empty } from '../parts/states.tsx'
import { toast } from '../shell/toast.ts'
import { ConnectDialog, type Connection } from './connections/ConnectDialog.tsx'

/** The account's own access to providers of tools. */
export default function Connections() {
  const [params, setParams] = useSearchParams()
  const [removing, setRemoving] = useState<Connection | null>(null)
  const remove = useAction('connections.remove', {
    changes: ['connections.'],
    done: () => toast({ tone: 'good', text: 'Connection removed. Calls no longer use it.' }),
  })
  const change = useAction('connections.change', { changes: ['connections.'] })
  const test = useAction('connections.test', {
    looks: true,
    changes: ['connections.'],
    done: ({ ok, tool, status }) =>
      toast(
        ok === null
          ? { tone: 'bad', text: 'Nothing could be tested: no tool of this provider gave a clear answer.' }
          : ok
            ? { tone: 'good', text: `The connection works: ${String(tool)} answered ${String(status)}.` }
            : { tone: 'bad', text: 'The provider did not accept this connection. Connect again.' },
      ),
  })
  const connect = (
    <Button variant="main" onClick={() => setParams({ connect: '' })}>
      <PlusIcon /> Connect a provider
    </Button>
  )
  const acts: Column<Connection> = {
    title: '',
    end: true,
    render: (connection) => (
      <span className="flex flex-wrap justify-end gap-1.5">
        {(isOut(connection) || connection.failure !== null) && (
          <Button small onClick={() => setParams({ connect: connection.provider, again: connection.id })}>
            Connect again
          </Button>
        )}
        {!isOut(connection) && (
          <Button small aria-label={`Test ${connection.name}`} onClick={() => test.mutate({ id: connection.id })}>
            Test
          </Button>
        )}
        {!connection.default && (
          <Button
            small
            aria-label={`Make default: ${connection.name}`}
            onClick={() => change.mutate({ id: connection.id, body: { default: true } })}
          >
            Make default
          </Button>
        )}
        <Button variant="danger" small aria-label={`Remove ${connection.name}`} onClick={() => setRemoving(connection)}>
          Remove
        </Button>
      </span>
    ),
  }
  return (
    <Page
      title="Connections"
      actions={connect}
      intro="Your accounts at other companies. Tools of these companies act in your account only."
    >
      <List
        path="connections.list"
        filter={{}}
        filtered={false}
        rows={({ connections }) => connections}
        name="Connections"
        columns={[...COLUMNS, acts]}
        empty={
          <Empty title="No connections yet" action={connect}>
            Tools that act in your account at another company need a connection. Connect a provider with its sign-in or
            with a key.
          </Empty>
        }
      />
      {params.get('connect') !== null && (
        <ConnectDialog
          provider={params.get('connect') ?? ''}
          again={params.get('again')}
          scopes={(params.get('scopes') ?? '').split(' ').filter((scope) => scope !== '')}
          close={() => setParams({})}
        />
      )}
      <Confirm
        title={`Remove “${removing?.name ?? ''}”?`}
        act="Remove connection"
        open={removing !== null}
        close={() => setRemoving(null)}
        confirm={() => {
          if (removing !== null) remove.mutate({ id: removing.id })
        }}
      >
        Calls stop using it at once. Where the provider allows it, the access is revoked there too.
      </Confirm>
    </Page>
  )
}

const COLUMNS: readonly Column<Connection>[] = [
  {
    title: 'Name',
    render: (connection) => (
      <span className="flex flex-wrap items-center gap-1.5">
        {connection.name}
        {connection.default && <Badge tone="plain">default</Badge>}
      </span>
    ),
    csv: ({ name }) => name,
  },
  { title: 'Provider', render: ({ provider }) => provider, csv: ({ provider }) => provider },
  {
    title: 'Health',
    render: (connection) => (
      <span title={connection.failure ?? undefined}>
        <Badge tone={isOut(connection) || connection.failure !== null ? 'warn' : 'good'}>
          {connection.failure !== null && !isOut(connection) ? 'failing' : STATES[connection.state]}
        </Badge>
      </span>
    ),
    csv: ({ state }) => state,
  },
  {
    title: 'Scopes',
    render: ({ scopes }) => scopes.join(', ') || '–',
    csv: ({ scopes }) => scopes.join(' '),
    wide: true,
  },
  timeColumn('Last used', ({ lastUsedAt }) => lastUsedAt, { wide: true }),
]

/** No call can use it. */
function isOut({ state }: Connection): boolean {
  return state === 'expired' || state === 'pending'
}

const STATES: Record<Connection['state'], string> = {
  pending: 'not finished',
  active: 'active',
  refreshing: 'active',
  expired: 'expired',
  revoked: 'removed',
}

import { PlusIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { useSearchParams } from 'wouter'
import { foreseen, useAction, useRead, type Output } from '../api/procedures.ts'
import { Badge } from '../parts/Badge.tsx'
import { textColumn, timeColumn, type Column } from '../parts/columns.tsx'
import { Button } from '../parts/Button.tsx'
import { Dash, When } from '../parts/values.tsx'
import { Choice, Form, TextField } from '../parts/form.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Confirm, Modal } from '../parts/Modal.tsx'
import { OneTimeSecret } from '../parts/Secret.tsx'
import { Empty } from '../parts/states.tsx'
import { serviceNow } from '../settings.ts'
import { toast } from '../shell/toast.ts'

type Key = Output<'identity.keys.list'>['keys'][number]

export default function Keys() {
  const [params, setParams] = useSearchParams()
  const [revoking, setRevoking] = useState<Key | null>(null)
  const revoke = useAction('identity.keys.revoke', {
    changes: ['identity.keys.'],
    foresees: ({ id }) => [
      foreseen('identity.keys.list', ({ keys, total }) => ({
        keys: keys.filter((key) => key.id !== id),
        total: total - 1,
      })),
    ],
    done: () => toast({ tone: 'good', text: 'Key revoked. Requests with it are refused from now on.' }),
  })
  const open = params.get('new') !== null
  const create = (
    <Button variant="main" onClick={() => setParams({ new: '1' })}>
      <PlusIcon /> Create key
    </Button>
  )
  return (
    <Page
      title="API keys"
      actions={create}
      intro="Keys let programs act for you in this environment. A program that signs in without a key chooses the environment with the header Coinslot-Environment: sandbox or production."
    >
      <List
        path="identity.keys.list"
        rows={({ keys }) => keys}
        name="API keys"
        columns={[...COLUMNS, revokeColumn(setRevoking)]}
        empty={
          <Empty title="No API keys yet" action={create}>
            Create one for each program or server, so that you can revoke it without stopping the others.
          </Empty>
        }
      />
      {open && <NewKey agent={params.get('agent') ?? ''} close={() => setParams({})} />}
      <Confirm
        title={`Revoke “${revoking?.name ?? ''}”?`}
        act="Revoke key"
        open={revoking !== null}
        close={() => setRevoking(null)}
        confirm={() => {
          if (revoking !== null) revoke.mutate({ id: revoking.id })
        }}
      >
        Programs that use it are refused at once. This cannot be undone.
      </Confirm>
    </Page>
  )
}

const COLUMNS: Column<Key>[] = [
  textColumn('Name', ({ name }) => name),
  {
    title: 'Key',
    render: ({ prefix, lastFour }) => (
      <code className="font-mono text-[0.8125rem] whitespace-nowrap text-quiet">
        {prefix}…{lastFour}
      </code>
    ),
    csv: ({ prefix, lastFour }) => `${prefix}…${lastFour}`,
    wide: true,
  },
  {
    title: 'Agent',
    render: ({ agentId }) => (agentId === null ? <Dash /> : <Agent id={agentId} />),
    csv: ({ agentId }) => agentId,
    wide: true,
  },
  {
    title: 'Last used',
    render: ({ lastUsedAt }) =>
      lastUsedAt === null ? <span className="text-quiet">Never</span> : <When at={lastUsedAt} />,
    csv: ({ lastUsedAt }) => lastUsedAt,
  },
  {
    title: 'Expires',
    render: ({ expiresAt }) =>
      expiresAt === null ? (
        <span className="text-quiet">Never</span>
      ) : Date.parse(expiresAt) < serviceNow() ? (
        <Badge tone="warn">expired</Badge>
      ) : (
        <When at={expiresAt} />
      ),
    csv: ({ expiresAt }) => expiresAt,
    wide: true,
  },
  timeColumn('Created', ({ createdAt }) => createdAt, { wide: true }),
]

function revokeColumn(revoke: (key: Key) => void): Column<Key> {
  return {
    title: '',
    end: true,
    render: (key) => (
      <Button variant="danger" small aria-label={`Revoke ${key.name}`} onClick={() => revoke(key)}>
        Revoke
      </Button>
    ),
  }
}

function Agent({ id }: { id: string }) {
  const { data } = useRead('spending.agents', { limit: 100, offset: 0 })
  const name = data?.agents.find((agent) => agent.id === id)?.name
  return <span className="block truncate">{name ?? id}</span>
}

/** `agent`: the id of the one that it is chosen for at first, or an empty text. */
function NewKey({ agent, close }: { agent: string; close: () => void }) {
  const agents = useRead('spending.agents', { limit: 100, offset: 0 })
  const create = useAction('identity.keys.create', { changes: ['identity.keys.'], quiet: true, once: true })
  const form = useForm({ defaultValues: { name: '', agentId: agent, expiresAt: '' } })
  const listed = (agents.data?.agents ?? []).map(({ id, name }) => [id, name] as const)
  // A choice that is not among the options would be none: the key would have no limits.
  const isMissing = agent !== '' && !listed.some(([id]) => id === agent)
  if (create.data !== undefined) {
    return (
      <Modal title="New API key" open>
        <OneTimeSecret
          secret={create.data.secret}
          close={close}
          lost="Revoke this key and create another one."
          note="Copy it now. It is not shown again."
        />
      </Modal>
    )
  }
  return (
    <Modal title="Create API key" open close={close}>
      <Form
        form={form}
        act="Create key"
        cancel={close}
        submit={({ name, agentId, expiresAt }) =>
          create.mutateAsync({
            name,
            agentId: agentId === '' ? null : agentId,
            expiresAt: expiresAt === '' ? null : new Date(`${expiresAt}T23:59:59`).toISOString(),
          })
        }
      >
        <TextField
          form={form}
          name="name"
          label="Name"
          placeholder="Invoice workflow"
          autoFocus
          hint="The program or server that will use it."
        />
        <Choice
          form={form}
          name="agentId"
          label="Agent"
          optional
          hint="The agent’s limits apply to everything that this key spends."
          options={[['', 'None: no spending limits'], ...(isMissing ? [[agent, agent] as const] : []), ...listed]}
        />
        <TextField form={form} name="expiresAt" label="Expires" type="date" optional />
      </Form>
    </Modal>
  )
}

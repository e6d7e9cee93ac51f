import { PlusIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { useSearchParams } from 'wouter'
import { foreseen, useAct, useAsk, type Output } from '../api/ask.ts'
import { Badge } from '../parts/Badge.tsx'
import { timeColumn } from '../parts/columns.tsx'
import { Button } from '../parts/Button.tsx'
import { Dash, When } from '../parts/figures.tsx'
import { Choice, Form, TextField } from '../parts/form.tsx'
import { PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Confirm, Modal } from '../parts/Modal.tsx'
import { Once } from '../parts/Once.tsx'
import { Empty } from '../parts/states.tsx'
import { serviceNow } from '../settings.ts'
import { say } from '../shell/toasts.ts'

type Key = Output<'identity.keys.list'>['keys'][number]

export default function Keys() {
  const [params, setParams] = useSearchParams()
  const [revoking, setRevoking] = useState<Key | null>(null)
  const revoke = useAct('identity.keys.revoke', {
    changes: ['identity.keys.'],
    foresees: ({ id }) => [
      foreseen('identity.keys.list', ({ keys, total }) => ({
        keys: keys.filter((key) => key.id !== id),
        total: total - 1,
      })),
    ],
    done: () => say({ tone: 'good', text: 'The key is revoked. Whoever still uses it is refused from now on.' }),
  })
  const open = params.get('new') !== null
  const create = (
    <Button look="main" onClick={() => setParams({ new: '1' })}>
      <PlusIcon /> Create key
    </Button>
  )
  const columns: Column<Key>[] = [
    {
      title: 'Name',
      show: ({ name }) => <span className="block truncate font-medium">{name}</span>,
      csv: ({ name }) => name,
    },
    {
      title: 'Key',
      show: ({ prefix, lastFour }) => (
        <code className="font-mono text-[0.8125rem] whitespace-nowrap text-quiet">
          {prefix}…{lastFour}
        </code>
      ),
      csv: ({ prefix, lastFour }) => `${prefix}…${lastFour}`,
      wide: true,
    },
    {
      title: 'Agent',
      show: ({ agentId }) => (agentId === null ? <Dash /> : <Agent id={agentId} />),
      csv: ({ agentId }) => agentId,
      wide: true,
    },
    {
      title: 'Last used',
      show: ({ lastUsedAt }) =>
        lastUsedAt === null ? <span className="text-quiet">Never</span> : <When at={lastUsedAt} />,
      csv: ({ lastUsedAt }) => lastUsedAt,
    },
    {
      title: 'Expires',
      show: ({ expiresAt }) =>
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
    {
      title: '',
      end: true,
      show: (key) => (
        <Button look="danger" small aria-label={`Revoke ${key.name}`} onClick={() => setRevoking(key)}>
          Revoke
        </Button>
      ),
    },
  ]
  return (
    <>
      <PageHead title="API keys" actions={create}>
        A key is a password for programs: it acts for you in this environment.
      </PageHead>
      <List
        path="identity.keys.list"
        rows={({ keys }) => keys}
        name="API keys"
        columns={columns}
        empty={
          <Empty title="No keys yet" action={create}>
            Make one for each program or server, so that you can revoke one without stopping the others.
          </Empty>
        }
      />
      {open && <NewKey close={() => setParams({})} />}
      <Confirm
        title={`Revoke “${revoking?.name ?? ''}”?`}
        act="Revoke key"
        open={revoking !== null}
        close={() => setRevoking(null)}
        confirm={() => {
          if (revoking !== null) revoke.mutate({ id: revoking.id })
        }}
      >
        Every program that uses it is refused at once. This cannot be undone.
      </Confirm>
    </>
  )
}

function Agent({ id }: { id: string }) {
  const { data } = useAsk('spending.agents', { limit: 100, offset: 0 })
  const name = data?.agents.find((agent) => agent.id === id)?.name
  return <span className="block truncate">{name ?? id}</span>
}

function NewKey({ close }: { close: () => void }) {
  const agents = useAsk('spending.agents', { limit: 100, offset: 0 })
  const create = useAct('identity.keys.create', { changes: ['identity.keys.'], quiet: true, once: true })
  const form = useForm({ defaultValues: { name: '', agentId: '', expiresAt: '' } })
  if (create.data !== undefined) {
    return (
      <Modal title="Save your key now" open>
        <Once
          secret={create.data.secret}
          close={close}
          lost="Revoke that key and make another one."
          note="This is the only time that it is shown: we keep a trace of it, not the key."
        />
      </Modal>
    )
  }
  return (
    <Modal title="Create an API key" open close={close}>
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
          hint="Where it will be used."
        />
        <Choice
          form={form}
          name="agentId"
          label="Agent"
          optional
          hint="Its limits then hold for everything that the key spends."
          options={[
            ['', 'None: spends without limits'],
            ...(agents.data?.agents ?? []).map(({ id, name }) => [id, name] as const),
          ]}
        />
        <TextField form={form} name="expiresAt" label="Expires" type="date" optional />
      </Form>
    </Modal>
  )
}

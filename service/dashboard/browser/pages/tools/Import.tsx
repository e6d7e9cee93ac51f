import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { useAction } from '../../api/procedures.ts'
import { inCounts } from '../../parts/values.tsx'
import { Choice, Form, TextField } from '../../parts/form.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { toast } from '../../shell/toast.ts'

/** Imports the tools of an API or of another MCP server, for this account alone. */
export function Import({ close }: { close: () => void }) {
  const bring = useAction('tools.import', { changes: ['tools.'], quiet: true })
  const form = useForm<{ kind: 'openapi' | 'mcp'; slug: string; address: string; credentials: string }>({
    defaultValues: { kind: 'openapi', slug: '', address: '', credentials: '' },
  })
  const kind = form.watch('kind')
  const [leftOut, setLeftOut] = useState<readonly LeftOut[]>([])
  if (leftOut.length > 0) return <LeftOutOperations operations={leftOut} close={close} />
  return (
    <Modal
      title="Import tools"
      note="Only you see these tools. Calls cost nothing on Coinslot; their own server may charge you."
      open
      close={close}
    >
      <Form
        form={form}
        act="Import tools"
        cancel={close}
        submit={async ({ credentials, ...rest }) => {
          const { provider, added, changed, unchanged, skipped, keyRemoved } = await bring.mutateAsync({
            ...rest,
            ...(credentials === '' ? {} : { credentials }),
          })
          const count = added.length + changed.length + unchanged
          const left = skipped.length === 0 ? '' : ` ${inCounts(skipped.length)} could not be imported.`
          toast({
            tone: 'good',
            text: `Imported ${inCounts(count)} ${count === 1 ? 'tool' : 'tools'} from ${provider}.${left}`,
          })
          if (keyRemoved) toast({ tone: 'bad', text: keyRemovedFrom(provider) })
          if (skipped.length === 0) close()
          else setLeftOut(skipped)
        }}
      >
        <Choice
          form={form}
          name="kind"
          label="From"
          options={[
            ['openapi', 'An OpenAPI or Swagger document'],
            ['mcp', 'An MCP server'],
          ]}
        />
        <TextField
          form={form}
          name="address"
          label="Address"
          mono
          placeholder={kind === 'openapi' ? 'https://api.example.com/openapi.json' : 'https://example.com/mcp'}
        />
        <TextField
          form={form}
          name="slug"
          label="Name"
          mono
          placeholder="weather"
          hint="Its tools are called weather-…"
        />
        <TextField
          form={form}
          name="credentials"
          label="Key"
          mono
          optional
          autoComplete="off"
          hint="Sent with each call. Stored encrypted and not shown again."
        />
      </Form>
    </Modal>
  )
}

function keyRemovedFrom(provider: string): string {
  return `The stored key of ${provider} was removed: these tools are on another server. Set the key for it.`
}

interface LeftOut {
  operation: string
  why: string
}

function LeftOutOperations({ operations, close }: { operations: readonly LeftOut[]; close: () => void }) {
  const shown = operations.slice(0, SHOWN)
  return (
    <Modal title="Operations left out" note="The other operations are tools now." open wide close={close}>
      <ul className="space-y-2">
        {shown.map(({ operation, why }) => (
          <li key={operation} className="break-words">
            <span className="font-mono">{operation}</span>: {why}
          </li>
        ))}
      </ul>
      {operations.length > SHOWN && <p className="mt-3 text-quiet">{inCounts(operations.length - SHOWN)} more.</p>}
    </Modal>
  )
}

const SHOWN = 100

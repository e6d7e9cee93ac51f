import { useForm } from 'react-hook-form'
import { useAction, useRead } from '../../api/procedures.ts'
import { settings } from '../../settings.ts'
import { Form, saveEdited, TextField } from '../../parts/form.tsx'
import { Card, Facts } from '../../parts/layout.tsx'
import { Loaded, Skeleton } from '../../parts/states.tsx'
import { orNull } from '../../parts/texts.ts'
import { Id } from '../../parts/values.tsx'
import { toast } from '../../shell/toast.ts'

/** The public name of the account, and the MCP address of all that it sells. */
export function Handle() {
  const me = useRead('identity.me', undefined)
  return (
    <Card title="Storefront">
      <Loaded of={me} waiting={<Skeleton className="h-24 w-full" />}>
        {({ handle }) => (
          <div className="space-y-5">
            {handle !== null && (
              <Facts
                facts={[['MCP address', <Id key="mcp" value={`${settings.storefrontUrl}/${handle}/mcp`} whole />]]}
              />
            )}
            <HandleForm known={handle} />
          </div>
        )}
      </Loaded>
    </Card>
  )
}

function HandleForm({ known }: { known: string | null }) {
  const set = useAction('identity.setHandle', { changes: ['identity.me'], quiet: true })
  const form = useForm({ defaultValues: { handle: known ?? '' } })
  return (
    <Form
      form={form}
      act="Save handle"
      variant="plain"
      submit={async (values) => {
        await saveEdited(form, values, {
          toBody: (of) => ({ handle: orNull(of.handle.trim()) }),
          save: async ({ handle = null }) => {
            await set.mutateAsync({ handle })
            toast({ tone: 'good', text: handle === null ? 'Handle removed.' : 'Handle saved.' })
          },
        })
      }}
    >
      <TextField
        form={form}
        name="handle"
        label="Handle"
        mono
        optional
        placeholder="your-name"
        spellCheck={false}
        autoComplete="off"
        hint="With a handle, everyone can find all your active checkouts, published marketplace assets and paid routes at one MCP address. After a change, the old address stops working."
      />
    </Form>
  )
}

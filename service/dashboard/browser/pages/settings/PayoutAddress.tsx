import { useForm } from 'react-hook-form'
import { NETWORK_NAMES } from '../../../../ui-kit/networks.ts'
import { useAction, useRead } from '../../api/procedures.ts'
import { useEnvironment } from '../../settings.ts'
import { Form, saveEdited, TextField } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import { Loaded, Skeleton } from '../../parts/states.tsx'
import { orNull } from '../../parts/texts.ts'
import { toast } from '../../shell/toast.ts'

/** The address of this environment's withdrawals, checked once instead of at every withdrawal. */
export function PayoutAddress() {
  const at = useEnvironment()
  const terms = useRead('wallet.terms', undefined)
  return (
    <Card title="Payout address">
      <Loaded of={terms} waiting={<Skeleton className="h-24 w-full" />}>
        {({ usualAddress, network }) => (
          // The key creates a new form for the other environment.
          <Address key={at} known={usualAddress} network={network} />
        )}
      </Loaded>
    </Card>
  )
}

function Address({ known, network }: { known: string | null; network: keyof typeof NETWORK_NAMES }) {
  const set = useAction('wallet.setUsualAddress', { changes: ['wallet.terms'], quiet: true })
  const form = useForm({ defaultValues: { to: known ?? '' } })
  return (
    <Form
      form={form}
      act="Save address"
      variant="plain"
      submit={async (values) => {
        await saveEdited(form, values, {
          toBody: ({ to }) => ({ to: orNull(to.trim()) }),
          save: async ({ to = null }) => {
            await set.mutateAsync({ to })
            const text = to === null ? 'Payout address removed.' : 'Payout address saved. New withdrawals use it.'
            toast({ tone: 'good', text })
          },
        })
      }}
    >
      <TextField
        form={form}
        name="to"
        label="Address"
        mono
        optional
        placeholder="0x…"
        spellCheck={false}
        autoComplete="off"
        hint={`Your own wallet on ${NETWORK_NAMES[network]}: withdrawals are filled in with it.`}
      />
    </Form>
  )
}

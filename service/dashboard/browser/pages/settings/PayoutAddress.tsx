import { useForm } from 'react-hook-form'
import { NETWORK_NAMES } from '../../../../ui-kit/networks.ts'
import { useAct, useAsk } from '../../api/ask.ts'
import { useEnvironment } from '../../api/environment.ts'
import { Form, TextField } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import { Awaited, Skeleton } from '../../parts/states.tsx'
import { say } from '../../shell/toasts.ts'

/** Where this environment's money goes out to: typed and looked at once, with time, instead of at every withdrawal. */
export function PayoutAddress() {
  const at = useEnvironment()
  const terms = useAsk('wallet.terms', undefined)
  return (
    <Card title="Payout address">
      {terms.data === undefined ? (
        <Awaited of={terms}>
          <Skeleton className="h-24 w-full" />
        </Awaited>
      ) : (
        // Another environment has another address, and another form.
        <Address key={at} known={terms.data.usualAddress} network={terms.data.network} />
      )}
    </Card>
  )
}

function Address({ known, network }: { known: string | null; network: keyof typeof NETWORK_NAMES }) {
  const set = useAct('wallet.setUsualAddress', { changes: ['wallet.terms'], quiet: true })
  const form = useForm({ defaultValues: { to: known ?? '' } })
  return (
    <Form
      form={form}
      act="Use this address"
      look="plain"
      submit={async ({ to }) => {
        await set.mutateAsync({ to: to.trim() === '' ? null : to.trim() })
        const text = to.trim() === '' ? 'Removed.' : 'Saved. Withdrawals begin with it from now on.'
        say({ tone: 'good', text })
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
        hint={`Your own wallet on ${NETWORK_NAMES[network]}: a withdrawal begins with it.`}
      />
    </Form>
  )
}

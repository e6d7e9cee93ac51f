import type { FieldValues, UseFormReturn } from 'react-hook-form'
import { Check, Choice, TextField } from './form.tsx'
import { Card } from './layout.tsx'

/** Where the money of a checkout or a paywall goes, or that none moves. */
export function Payout<V extends FieldValues & Terms>({ form: whole }: { form: UseFormReturn<V> }) {
  // Only these fields are used here, whatever else the form has.
  const form = whole as unknown as UseFormReturn<Terms>
  const testMode = form.watch('testMode')
  return (
    <Card title="Payout">
      <div className="space-y-4">
        <Check form={form} name="testMode" label="Test mode" hint="Payments are simulated. No money moves." />
        <Choice
          form={form}
          name="network"
          label="Network"
          options={[
            ['base-sepolia', 'Base Sepolia: test tokens'],
            ['base', 'Base: real USDC'],
          ]}
        />
        <TextField
          form={form}
          name="recipient"
          label="Recipient"
          mono
          optional
          placeholder="0x…"
          hint={testMode ? 'Not needed in test mode.' : 'Leave it empty to be paid into your Coinslot wallet.'}
        />
      </div>
    </Card>
  )
}

interface Terms {
  testMode: boolean
  network: string
  recipient: string
}

import type { UseFormReturn } from 'react-hook-form'
import { AmountField, Check, Choice, TextArea, TextField } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import type { Draft } from './draft.ts'

/** How the price of a checkout comes about. */
export function Price({ form }: { form: UseFormReturn<Draft> }) {
  const kind = form.watch('pricing.kind')
  const isChat = form.watch('after.kind') === 'chat'
  const Detail = DETAILS[kind]
  return (
    <Card title="Pricing">
      <div className="space-y-4">
        {isChat ? (
          <AmountField
            form={form}
            name="price"
            label="Price of a single message"
            hint="For programs that pay message by message. People buy the plans below."
          />
        ) : (
          <>
            <Choice form={form} name="pricing.kind" label="Kind" options={KINDS} />
            <Detail form={form} />
          </>
        )}
        <Check form={form} name="coupons" label="Buyers may use your coupons" />
      </div>
    </Card>
  )
}

const KINDS = [
  ['fixed', 'One price'],
  ['quantity', 'A price for each, and the buyer chooses how many'],
  ['choose', 'The buyer chooses the price'],
  ['byField', 'A field of the form decides'],
] as const

function Fixed({ form }: { form: UseFormReturn<Draft> }) {
  return (
    <div className="max-w-40">
      <AmountField form={form} name="price" label="Price" />
    </div>
  )
}

function Quantity({ form }: { form: UseFormReturn<Draft> }) {
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <AmountField form={form} name="price" label="Price of each" />
      <TextField form={form} name="pricing.min" label="Minimum" inputMode="numeric" optional placeholder="1" />
      <TextField form={form} name="pricing.max" label="Maximum" inputMode="numeric" hint="Up to 10,000." />
    </div>
  )
}

function Choose({ form }: { form: UseFormReturn<Draft> }) {
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <AmountField form={form} name="pricing.min" label="Minimum" />
      <AmountField form={form} name="pricing.max" label="Maximum" optional />
      <AmountField form={form} name="pricing.suggested" label="Suggested" optional />
    </div>
  )
}

function ByField({ form }: { form: UseFormReturn<Draft> }) {
  const selects = form.watch('fields').filter(({ type, name }) => type === 'select' && name !== '')
  return (
    <>
      <Choice
        form={form}
        name="pricing.field"
        label="Field"
        hint={selects.length === 0 ? 'Add a required field of the type select to the form first.' : undefined}
        options={[['', 'Choose a field'], ...selects.map(({ name, label }) => [name, label] as const)]}
      />
      <TextArea
        form={form}
        name="pricing.prices"
        label="Price of each option in USDC"
        rows={4}
        placeholder={'Small: 5\nLarge: 12'}
        hint="One line for each option of the field."
      />
    </>
  )
}

const DETAILS = { fixed: Fixed, quantity: Quantity, choose: Choose, byField: ByField }

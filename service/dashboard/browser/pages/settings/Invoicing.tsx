import { useForm } from 'react-hook-form'
import { useAction, useRead, type Output } from '../../api/procedures.ts'
import { Check, Form, saveEdited, TextArea, TextField } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import { Loaded, Skeleton } from '../../parts/states.tsx'
import { toAmount } from '../../parts/texts.ts'
import { useEnvironment } from '../../settings.ts'
import { toast } from '../../shell/toast.ts'

/** What this environment's account writes on receipts and invoices. */
export function Invoicing() {
  const at = useEnvironment()
  const known = useRead('invoices.settings', undefined)
  return (
    <Card title="Receipts and invoices">
      <Loaded of={known} waiting={<Skeleton className="h-96 w-full" />}>
        {/* The key creates a new form for the other environment. */}
        {(data) => <InvoicingForm key={at} known={data} />}
      </Loaded>
    </Card>
  )
}

function InvoicingForm({ known }: { known: Output<'invoices.settings'> }) {
  const change = useAction('invoices.changeSettings', { changes: ['invoices.settings'], quiet: true })
  const form = useForm({ defaultValues: { ...known, taxPercent: String(known.taxPercent) } })
  return (
    <Form
      form={form}
      act="Save details"
      variant="plain"
      submit={async (values) => {
        await saveEdited(form, values, {
          toBody: (of) => ({ ...of, taxPercent: toAmount(of.taxPercent) }),
          save: async (changed) => {
            await change.mutateAsync(changed)
            toast({ tone: 'good', text: 'Details saved. Invoices that were issued stay as they are.' })
          },
        })
      }}
    >
      <TextField form={form} name="sellerName" label="Your name or company" />
      <TextArea form={form} name="sellerAddress" label="Your address" rows={3} />
      <TextField form={form} name="sellerTaxId" label="Your tax ID" optional />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField form={form} name="taxLabel" label="Tax" />
        <TextField
          form={form}
          name="taxPercent"
          label="Rate"
          unit="%"
          inputMode="decimal"
          hint="Prices include it. 0 prints no tax."
        />
      </div>
      <TextField
        form={form}
        name="prefix"
        label="Number prefix"
        mono
        optional
        placeholder="ACME"
        hint="Before the year: ACME-2026-000123. The sandbox adds TEST."
      />
      <TextArea form={form} name="note" label="Note" rows={2} optional hint="Printed at the end." />
      <Check
        form={form}
        name="enabled"
        label="Buyers can ask for an invoice"
        hint="Numbers count up, and none is given out twice. Some are skipped only after the server was restored from a backup. An invoice is never changed once it is issued."
      />
    </Form>
  )
}

import { useForm, useWatch } from 'react-hook-form'
import { useAction, useRead, type Output } from '../../api/procedures.ts'
import { AmountField, Check, Choice, Form, saveEdited, TextField } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import { Loaded, Skeleton } from '../../parts/states.tsx'
import { toAmount } from '../../parts/texts.ts'
import { useEnvironment } from '../../settings.ts'
import { toast } from '../../shell/toast.ts'

/** What this environment's account promises buyers who have a problem with a payment. */
export function RefundPolicy() {
  const at = useEnvironment()
  const policy = useRead('disputes.policy', undefined)
  return (
    <Card title="Refund policy">
      <Loaded of={policy} waiting={<Skeleton className="h-96 w-full" />}>
        {/* The key creates a new form for the other environment. */}
        {(known) => <PolicyForm key={at} known={known} />}
      </Loaded>
    </Card>
  )
}

function PolicyForm({ known }: { known: Output<'disputes.policy'> }) {
  const change = useAction('disputes.changePolicy', { changes: ['disputes.policy'], quiet: true })
  const form = useForm({
    defaultValues: {
      ...known,
      windowDays: String(known.windowDays),
      answerDays: String(known.answerDays),
      automaticPerSale: String(known.automaticPerSale),
      automaticPerDay: String(known.automaticPerDay),
    },
  })
  const agents = useWatch({ control: form.control, name: 'agents' })
  return (
    <Form
      form={form}
      act="Save policy"
      variant="plain"
      submit={async (values) => {
        await saveEdited(form, values, {
          toBody: (of) => ({
            ...of,
            windowDays: toAmount(of.windowDays),
            answerDays: toAmount(of.answerDays),
            automaticPerSale: toAmount(of.automaticPerSale),
            automaticPerDay: toAmount(of.automaticPerDay),
          }),
          save: async (changed) => {
            await change.mutateAsync(changed)
            toast({ tone: 'good', text: 'Refund policy saved. Disputes that are open keep their terms.' })
          },
        })
      }}
    >
      <TextField
        form={form}
        name="windowDays"
        label="Buyers can report a problem for"
        unit="days"
        inputMode="numeric"
        hint="After the payment. 0: not at all."
      />
      <TextField form={form} name="answerDays" label="You answer within" unit="days" inputMode="numeric" />
      <Choice
        form={form}
        name="unanswered"
        label="Without an answer"
        options={[
          ['close', 'Close the dispute'],
          ['refund', 'Refund the payment'],
        ]}
      />
      <Choice
        form={form}
        name="agents"
        label="Refund requests of programs"
        options={[
          ['asked', 'Ask me'],
          ['automatic', 'Refund at once, within limits'],
        ]}
      />
      {agents === 'automatic' && (
        <>
          <AmountField form={form} name="automaticPerSale" label="At most for one payment" />
          <AmountField form={form} name="automaticPerDay" label="At most in 24 hours" />
        </>
      )}
      <Check form={form} name="partialRefunds" label="Programs may ask for a part of a payment" />
    </Form>
  )
}

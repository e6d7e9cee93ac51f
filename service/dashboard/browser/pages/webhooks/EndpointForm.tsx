import { useForm } from 'react-hook-form'
import { useAction, type Output } from '../../api/procedures.ts'
import { Form, saveEdited, TextField } from '../../parts/form.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { OneTimeSecret } from '../../parts/Secret.tsx'
import { toast } from '../../shell/toast.ts'

export type Endpoint = Output<'webhooks.get'>

export function EndpointForm({ endpoint, close }: { endpoint?: Endpoint; close: () => void }) {
  const create = useAction('webhooks.create', { changes: ['webhooks.'], quiet: true, once: true })
  const change = useAction('webhooks.change', { changes: ['webhooks.'], quiet: true })
  const form = useForm<{ url: string; events: EventName[] }>({
    defaultValues: { url: endpoint?.url ?? '', events: endpoint?.events ?? ['payment.completed', 'payment.failed'] },
  })
  if (create.data !== undefined) {
    return (
      <Modal title="Signing secret" open>
        <OneTimeSecret
          secret={create.data.secret}
          close={close}
          lost="Open the endpoint and rotate its secret."
          note="Copy it now. It is not shown again. Each delivery is signed with it (Standard Webhooks): verify the signature before you trust a delivery."
        />
      </Modal>
    )
  }
  const fault = form.formState.errors.events?.message
  return (
    <Modal title={endpoint === undefined ? 'Add endpoint' : 'Edit endpoint'} open close={close}>
      <Form
        form={form}
        act={endpoint === undefined ? 'Add endpoint' : 'Save endpoint'}
        cancel={close}
        submit={async (values) => {
          if (endpoint === undefined) await create.mutateAsync(values)
          else {
            await saveEdited(form, values, {
              toBody: (of) => of,
              save: async (changed) => {
                await change.mutateAsync({ id: endpoint.id, ...changed })
                toast({ tone: 'good', text: 'Endpoint saved.' })
              },
            })
            close()
          }
        }}
      >
        <TextField form={form} name="url" label="Address" mono placeholder="https://example.com/hook" />
        <fieldset>
          <legend className="mb-1.5 font-medium">Events</legend>
          {fault !== undefined && <p className="mb-1 text-[0.8125rem] text-bad">{fault}</p>}
          <div className="space-y-1.5">
            {Object.entries(EVENTS).map(([name, meaning]) => (
              <label key={name} className="flex items-start gap-2.5">
                <input
                  type="checkbox"
                  value={name}
                  {...form.register('events')}
                  className="mt-0.5 size-4 shrink-0 accent-accent"
                />
                <span>
                  <code className="font-mono text-[0.8125rem]">{name}</code>
                  <span className="block text-[0.8125rem] text-quiet">{meaning}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
      </Form>
    </Modal>
  )
}

export type EventName = Output<'webhooks.get'>['events'][number]

/** What each event means. */
const EVENTS: Readonly<Record<EventName, string>> = {
  'payment.completed': 'A payment succeeded',
  'payment.failed': 'A payment failed',
  'payment.refunded': 'A payment was refunded, whole or in part',
  'refund.failed': 'A refund failed',
  'dispute.opened': 'A buyer reported a problem with a payment',
  'dispute.closed': 'A dispute ended',
  'customer.first_payment': 'A customer paid for the first time',
  'revenue.milestone': 'A revenue milestone was reached',
  'pricing.tier_changed': 'A customer moved to another tier',
  'run.completed': 'A run succeeded',
  'run.failed': 'A run failed',
  'checkout.paused': 'A checkout is paused because its workflow does not answer',
  'pass.created': 'A customer bought a plan of a checkout',
  'pass.ending': 'A pass ends within three days',
  'pass.ended': 'A pass ended',
  'agent.spending.warning': 'An agent is close to a limit',
  'agent.spending.exceeded': 'An agent reached a limit',
  'agent.paused': 'An agent was paused',
  'connection.expired': 'A connection to a provider expired',
  'wallet.low_balance': 'The wallet balance is low',
  'delivery.unconfirmed': 'A delivery was accepted but not confirmed',
  'delivery.stopped': 'A receiver stopped a delivery',
  'delivery.exhausted': 'A delivery failed at every attempt',
  'endpoint.disabled': 'An endpoint failed for five days',
}

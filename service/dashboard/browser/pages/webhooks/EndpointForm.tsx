import { useForm } from 'react-hook-form'
import { useAct, type Output } from '../../api/ask.ts'
import { Form, TextField } from '../../parts/form.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { Once } from '../../parts/Once.tsx'
import { say } from '../../shell/toasts.ts'
import { EVENTS, type EventName } from './events.ts'

export type Endpoint = Output<'webhooks.get'>

export function EndpointForm({ endpoint, close }: { endpoint?: Endpoint; close: () => void }) {
  const create = useAct('webhooks.create', { changes: ['webhooks.'], quiet: true, once: true })
  const change = useAct('webhooks.change', { changes: ['webhooks.'], quiet: true })
  const form = useForm<{ url: string; events: EventName[] }>({
    defaultValues: { url: endpoint?.url ?? '', events: endpoint?.events ?? ['payment.completed', 'payment.failed'] },
  })
  if (create.data !== undefined) {
    return (
      <Modal title="Save the signing secret now" open>
        <Once
          secret={create.data.secret}
          close={close}
          lost="Open the endpoint and make a new secret."
          note="This is the only time that it is shown. Each delivery is signed with it (Standard Webhooks): check the signature before you believe one."
        />
      </Modal>
    )
  }
  const fault = form.formState.errors.events?.message
  return (
    <Modal title={endpoint === undefined ? 'Add an endpoint' : 'Change the endpoint'} open close={close}>
      <Form
        form={form}
        act={endpoint === undefined ? 'Add endpoint' : 'Save'}
        cancel={close}
        submit={async (values) => {
          if (endpoint === undefined) await create.mutateAsync(values)
          else {
            await change.mutateAsync({ id: endpoint.id, ...values })
            say({ tone: 'good', text: 'Saved.' })
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
                  className="mt-0.5 size-4 accent-accent"
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

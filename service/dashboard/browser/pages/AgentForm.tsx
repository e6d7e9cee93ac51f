import { useForm, type UseFormReturn } from 'react-hook-form'
import { useLocation, useParams } from 'wouter'
import { useAction, useRead } from '../api/procedures.ts'
import { AmountField, Choice, Form, saveEdited, TextArea, TextField } from '../parts/form.tsx'
import { Card, Page } from '../parts/layout.tsx'
import { Loaded } from '../parts/states.tsx'
import { toast } from '../shell/toast.ts'
import { LIMIT_NAMES, LIMITS, toPolicy, toRules, type Agent, type PolicyDraft } from './agents/policy.ts'

/** The form for an agent's limits: how much, how fast, and on what it may spend. */
export default function AgentForm() {
  const { id } = useParams<{ id?: string }>()
  const agent = useRead('spending.agent', { id: id ?? '' }, { enabled: id !== undefined })
  if (id === undefined) return <Rules agent={null} />
  return <Loaded of={agent}>{(data) => <Rules agent={data} />}</Loaded>
}

function Rules({ agent }: { agent: Agent | null }) {
  const [, go] = useLocation()
  const create = useAction('spending.createAgent', { changes: ['spending.'], quiet: true, once: true })
  const change = useAction('spending.changeAgent', { changes: ['spending.'], quiet: true })
  const form = useForm({ defaultValues: toRules(agent) })
  return (
    <Page
      narrow
      title={agent === null ? 'New agent' : `Rules of ${agent.name}`}
      back={agent === null ? { to: '/agents', name: 'Agents' } : { to: `/agents/${agent.id}`, name: agent.name }}
    >
      <Form
        form={form}
        act={agent === null ? 'Create agent' : 'Save rules'}
        submit={async (rules) => {
          if (agent === null) {
            const { id } = await create.mutateAsync(toPolicy(rules, null))
            toast({ tone: 'good', text: 'Agent created. Create an API key for it next.' })
            go(`/agents/${id}`)
            return
          }
          await saveEdited(form, rules, {
            toBody: (of) => toPolicy(of, agent),
            merged: ['limits', 'rate', 'tools', 'rdas', 'domains'],
            save: async (body) => {
              await change.mutateAsync({ id: agent.id, body })
              toast({ tone: 'good', text: 'Rules saved. They apply from the next call on.' })
            },
          })
          go(`/agents/${agent.id}`)
        }}
      >
        <Card title="Agent">
          <TextField form={form} name="name" label="Name" placeholder="Research assistant" />
        </Card>
        <Limits form={form} />
        {(
          [
            ['tools', 'Tools', 'weather-*'],
            ['rdas', 'Assets', 'headline-writer'],
            ['domains', 'Paid URLs', '*.example.com'],
          ] as const
        ).map(([name, title, placeholder]) => (
          <Card key={name} title={title}>
            <div className="grid gap-4 sm:grid-cols-2">
              <TextArea
                form={form}
                name={`${name}.allow`}
                label="Allow only"
                rows={2}
                mono
                placeholder={placeholder}
                hint="One per line; * stands for any text. Leave it empty to allow all."
              />
              <TextArea form={form} name={`${name}.deny`} label="Deny" rows={2} mono />
            </div>
          </Card>
        ))}
      </Form>
    </Page>
  )
}

function Limits({ form }: { form: UseFormReturn<PolicyDraft> }) {
  return (
    <Card title="Limits">
      <div className="grid gap-4 sm:grid-cols-3">
        {LIMIT_NAMES.map((limit) => (
          <AmountField key={limit} form={form} name={`limits.${limit}`} label={LIMITS[limit]} placeholder="No limit" />
        ))}
      </div>
      <div className="mt-4 grid gap-4 sm:grid-cols-2">
        <TextField
          form={form}
          name="rate.callsPerMinute"
          label="Calls per minute"
          inputMode="numeric"
          placeholder="No limit"
        />
        <AmountField
          form={form}
          name="approvalAbove"
          label="Approval above"
          optional
          hint="More expensive calls wait up to 15 minutes for your approval."
        />
        <TextField form={form} name="alerts" label="Alerts at" optional hint="Percent of a limit, such as 50, 80." />
        <Choice
          form={form}
          name="onExceeded"
          label="At a limit"
          options={[
            ['refuse', 'Refuse the call'],
            ['pause', 'Refuse it, and pause the agent'],
          ]}
        />
      </div>
    </Card>
  )
}

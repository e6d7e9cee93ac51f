import { useForm } from 'react-hook-form'
import { useLocation, useParams } from 'wouter'
import { useAction, useRead } from '../api/procedures.ts'
import { AmountField, Choice, Form, TextArea, TextField } from '../parts/form.tsx'
import { Card, Page } from '../parts/layout.tsx'
import { Loaded } from '../parts/states.tsx'
import { toast } from '../shell/Toasts.tsx'
import { LIMIT_NAMES, LIMITS, toPolicy, toRules, type Agent } from './agents/policy.ts'

/** How much an agent may spend, how fast, and on what. */
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
        act={agent === null ? 'Create agent' : 'Save'}
        submit={async (rules) => {
          const body = toPolicy(rules, agent)
          const { id } =
            agent === null ? await create.mutateAsync(body) : await change.mutateAsync({ id: agent.id, body })
          toast({
            tone: 'good',
            text: agent === null ? 'The agent is made. Bind a key to it.' : 'Saved: it holds from the next call on.',
          })
          go(`/agents/${id}`)
        }}
      >
        <Card title="Agent">
          <TextField form={form} name="name" label="Name" placeholder="Research assistant" />
        </Card>
        <Card title="Limits">
          <div className="grid gap-4 sm:grid-cols-3">
            {LIMIT_NAMES.map((limit) => (
              <AmountField
                key={limit}
                form={form}
                name={`limits.${limit}`}
                label={LIMITS[limit]}
                placeholder="No limit"
              />
            ))}
          </div>
          <div className="mt-4 grid gap-4 sm:grid-cols-2">
            <TextField
              form={form}
              name="rate.callsPerMinute"
              label="Calls a minute"
              inputMode="numeric"
              placeholder="No limit"
            />
            <AmountField
              form={form}
              name="approvalAbove"
              label="Ask me above"
              optional
              hint="Dearer calls wait 15 minutes for your word."
            />
            <TextField
              form={form}
              name="alerts"
              label="Tell me at"
              optional
              hint="Percent of any limit, such as 50, 80."
            />
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
        {(
          [
            ['tools', 'Tools', 'weather-*'],
            ['rdas', 'Assets', 'headline-writer'],
            ['domains', 'Paid addresses', '*.example.com'],
          ] as const
        ).map(([name, title, placeholder]) => (
          <Card key={name} title={title}>
            <div className="grid gap-4 sm:grid-cols-2">
              <TextArea
                form={form}
                name={`${name}.allow`}
                label="Only these"
                rows={2}
                mono
                placeholder={placeholder}
                hint="One a line, * for any text. Empty: all."
              />
              <TextArea form={form} name={`${name}.deny`} label="Never these" rows={2} mono />
            </div>
          </Card>
        ))}
      </Form>
    </Page>
  )
}

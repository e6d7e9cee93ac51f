import type { UseFormReturn } from 'react-hook-form'
import { useRead } from '../../api/procedures.ts'
import { AmountField, Choice, TextArea, TextField, TextFields, type TextFieldOf } from '../../parts/form.tsx'
import type { Draft } from './draft.ts'

const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, method] as const)
const HEADERS = 'One per line, as Name: value. Stored encrypted; afterwards only the names are shown.'

/** The fields of one type of asset. */
export function Config({ form, type }: { form: UseFormReturn<Draft>; type: Draft['type'] }) {
  switch (type) {
    case 'prompt':
      return <Prompt form={form} />
    case 'agent':
      return <Agent form={form} />
    case 'tool':
      return <Tool form={form} />
  }
}

function Prompt({ form }: { form: UseFormReturn<Draft> }) {
  const models = useRead('assets.models', undefined)
  return (
    <>
      <TextArea
        form={form}
        name="promptConfig.promptTemplate"
        label="Prompt"
        rows={7}
        mono
        placeholder="Write five headlines about {{topic}}."
        hint="Input names in double braces are replaced."
      />
      <TextArea form={form} name="promptConfig.systemPrompt" label="System prompt" rows={3} mono optional />
      <div className="grid gap-4 sm:grid-cols-2">
        <Choice
          form={form}
          name="promptConfig.defaultModelId"
          label="Model"
          options={[
            ['', 'First available model'],
            ...(models.data ?? []).map(({ id, name, tier }) => [id, `${name} (${tier})`] as const),
          ]}
        />
        <AmountField
          form={form}
          name="promptConfig.sourcePrice"
          label="Price of the prompt"
          optional
          hint="Leave it empty to keep the prompt private; 0 shows it to everyone."
        />
        <TextField
          form={form}
          name="promptConfig.freeRunsPerDay"
          label="Free runs per day"
          inputMode="numeric"
          optional
          hint="You pay for the model of free runs. Leave it empty for the server's limit."
        />
      </div>
    </>
  )
}

function Agent({ form }: { form: UseFormReturn<Draft> }) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_8rem]">
        <TextField
          form={form}
          name="agentConfig.webhookUrl"
          label="Webhook"
          mono
          placeholder="https://example.com/agent"
          hint="Called for each run, signed with your signing secret."
        />
        <Choice
          form={form}
          name="agentConfig.webhookMethod"
          label="Method"
          options={METHODS.filter(([method]) => method !== 'GET')}
        />
      </div>
      <TextArea form={form} name="agentConfig.webhookHeaders" label="Headers" rows={2} mono optional hint={HEADERS} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextFields form={form} fields={AGENT_FIELDS} />
      </div>
    </>
  )
}

const AGENT_FIELDS: TextFieldOf<Draft>[] = [
  { name: 'agentConfig.timeoutSeconds', label: 'Time limit', inputMode: 'numeric', hint: 'Seconds, 180 at most.' },
  { name: 'agentConfig.maxRetries', label: 'Retries after a lost connection', inputMode: 'numeric' },
  {
    name: 'agentConfig.pollUrl',
    label: 'Poll URL',
    mono: true,
    optional: true,
    hint: 'Called again while a run is “pending”.',
  },
  { name: 'agentConfig.pollIntervalMs', label: 'Poll interval (ms)', inputMode: 'numeric', optional: true },
]

const secret = { autoComplete: 'off' }
const AUTH_FIELDS: Readonly<Record<string, TextFieldOf<Draft>[]>> = {
  api_key: [
    { name: 'toolConfig.authConfig.headerName', label: 'Header', mono: true, placeholder: 'X-Api-Key' },
    { name: 'toolConfig.authConfig.apiKey', label: 'Key', mono: true, ...secret },
  ],
  bearer: [{ name: 'toolConfig.authConfig.token', label: 'Token', mono: true, ...secret }],
  basic: [
    { name: 'toolConfig.authConfig.username', label: 'User', ...secret },
    { name: 'toolConfig.authConfig.password', label: 'Password', ...secret },
  ],
}
const TOOL_FIELDS: TextFieldOf<Draft>[] = [
  { name: 'toolConfig.timeoutSeconds', label: 'Time limit', inputMode: 'numeric', hint: 'Seconds, 60 at most.' },
  {
    name: 'toolConfig.rateLimitPerMinute',
    label: 'Calls per minute',
    inputMode: 'numeric',
    optional: true,
    hint: 'One caller gets at most half of them.',
  },
]

function Tool({ form }: { form: UseFormReturn<Draft> }) {
  const auth = form.watch('toolConfig.authType')
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_8rem]">
        <TextField
          form={form}
          name="toolConfig.apiEndpoint"
          label="Endpoint"
          mono
          placeholder="https://api.example.com/v1/lookup"
        />
        <Choice form={form} name="toolConfig.apiMethod" label="Method" options={METHODS} />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Choice
          form={form}
          name="toolConfig.authType"
          label="Authentication"
          options={[
            ['none', 'None'],
            ['api_key', 'API key in a header'],
            ['bearer', 'Bearer token'],
            ['basic', 'User and password'],
          ]}
        />
        <TextFields form={form} fields={[...(AUTH_FIELDS[auth] ?? []), ...TOOL_FIELDS]} />
      </div>
      <TextArea form={form} name="toolConfig.apiHeaders" label="Headers" rows={2} mono optional hint={HEADERS} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextArea
          form={form}
          name="toolConfig.requestTransform"
          label="Request transform"
          rows={3}
          mono
          optional
          hint="A JSONata expression. Leave it empty to send the inputs."
        />
        <TextArea
          form={form}
          name="toolConfig.responseTransform"
          label="Response transform"
          rows={3}
          mono
          optional
          hint="A JSONata expression."
        />
      </div>
    </>
  )
}

import { useState } from 'react'
import { useParams } from 'wouter'
import { sentenceOf, useAction, useRead, type Output as Answer } from '../api/procedures.ts'
import { Badge } from '../parts/Badge.tsx'
import { Button } from '../parts/Button.tsx'
import { NameLink } from '../parts/columns.tsx'
import { samplesOf } from '../../../ui-kit/code-samples.ts'
import { inUsdc } from '../../../ui-kit/format.ts'
import { Copy, Duration, Id, inCounts, Money } from '../parts/values.tsx'
import { InputForm, type FormValues } from '../parts/InputForm.tsx'
import { Card, Code, Facts, Page } from '../parts/layout.tsx'
import { Output } from '../parts/Output.tsx'
import { Loaded, Notice } from '../parts/states.tsx'
import { settings } from '../settings.ts'
import { Calls, Health } from './Tools.tsx'
import { fieldsOf, sampleInput, toInput } from './tools/schema.ts'

type Tool = Answer<'tools.get'>

export default function ToolRoute() {
  const { slug } = useParams<{ slug: string }>()
  const tool = useRead('tools.get', { slug })
  return <Loaded of={tool}>{(data) => <ToolPage tool={data} />}</Loaded>
}

function ToolPage({ tool: data }: { tool: Tool }) {
  return (
    <Page
      title={data.name}
      note={
        <>
          {data.stats.calls > 0 && <Health stats={data.stats} />}
          {data.simulated && <Badge>simulated</Badge>}
          {data.deprecated && <Badge tone="warn">deprecated</Badge>}
        </>
      }
      back={{ to: '/catalogue', name: 'Tools' }}
      intro={data.description}
    >
      <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <Try key={data.slug} tool={data} />
        <div className="min-w-0 space-y-6">
          <Card title="About">
            <Facts
              facts={[
                ['Slug', <Id key="slug" value={data.slug} whole />],
                ['Provider', data.provider],
                ['Needs', <Needs key="needs" tool={data} />],
                data.paged ? ['Pages', 'Add ?all=true to read all in one call'] : null,
                data.category === null ? null : ['Category', data.category],
                ['Price', data.price === 0 ? 'Free' : <Money key="price" amount={data.price} />],
                ['Recent calls', inCounts(data.stats.calls)],
                ['Median duration', <Duration key="p50" ms={data.stats.p50} />],
                ['95th percentile', <Duration key="p95" ms={data.stats.p95} />],
                data.stats.lastError === null ? null : ['Last error', data.stats.lastError],
              ]}
            />
          </Card>
          <Card title="API">
            <Samples tool={data} />
          </Card>
        </div>
      </div>
      <Calls tool={data.slug} />
    </Page>
  )
}

function Needs({ tool: { needs, provider, simulated } }: { tool: Tool }) {
  if (simulated) return 'Nothing: the sandbox returns examples'
  if (needs !== 'connection') return needs === 'platform' ? 'No account of yours' : 'Nothing'
  return <NameLink to={`/connections?connect=${provider}`}>Your own account at {provider}</NameLink>
}

/** The call with the fields that it must have, one language open at a time. */
function Samples({ tool: { slug, inputSchema } }: { tool: Tool }) {
  const samples = samplesOf({
    method: 'POST',
    origin: new URL(settings.toolsUrl).origin,
    path: '/tools/{slug}',
    params: { slug },
    isFilled: true,
    query: {},
    headers: {},
    credential: 'COINSLOT_KEY',
    body: { json: sampleInput(inputSchema) },
    isTyped: true,
  })
  return samples.map(({ lang, label, source }) => (
    <details key={lang} name="sample" open={lang === 'curl'} className="mb-2">
      <summary className="cursor-pointer text-quiet">{label}</summary>
      <div className="flex justify-end">
        <Copy value={source} label={`Copy the example in ${label}`} />
      </div>
      <Code>{source}</Code>
    </details>
  ))
}

function Try({ tool }: { tool: Tool }) {
  const [values, setValues] = useState<FormValues>({})
  const [unreadable, setUnreadable] = useState<Readonly<Record<string, string>>>({})
  const call = useAction('tools.try', { changes: ['tools.calls', 'wallet.'], quiet: true, once: true })
  const fields = fieldsOf(tool.inputSchema)
  const start = async (): Promise<void> => {
    const { input, faults } = toInput(tool.inputSchema, values)
    setUnreadable(faults)
    if (Object.keys(faults).length === 0) await call.mutateAsync({ slug: tool.slug, input, maxCost: tool.price })
  }
  const faults = { ...call.error?.details, ...unreadable }
  const shown = fields.some(({ name }) => faults[name] !== undefined)
  return (
    <div className="min-w-0 space-y-6">
      <Card title="Test call">
        {fields.length === 0 && <p className="mb-4 text-quiet">This tool has no inputs.</p>}
        <InputForm fields={fields} values={values} change={setValues} faults={faults} submit={start}>
          {call.error !== null && !call.error.isSessionOver && (
            <Notice tone="bad">
              {shown ? 'The tool was not called. Check the fields above.' : sentenceOf(call.error)}
            </Notice>
          )}
          <Button type="submit" variant="main" className="w-full" busy={call.isPending}>
            {tool.price === 0 ? 'Call tool' : `Call tool for ${inUsdc(tool.price)} USDC`}
          </Button>
        </InputForm>
      </Card>
      {call.data !== undefined && (
        <div>
          <Output title="Result" output={textOf(call.data.output)} />
          <p className="mt-2 flex flex-wrap justify-between gap-2 text-[0.8125rem] text-quiet">
            <span>
              {call.data.simulated && 'Simulated. '}Cost <Money amount={call.data.cost} />, took{' '}
              <Duration ms={call.data.duration} />
            </span>
            <span>
              Remaining credits <Money amount={call.data.credits} />
            </span>
          </p>
        </div>
      )}
    </div>
  )
}

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output)
}

import { useState } from 'react'
import { useParams } from 'wouter'
import { sentenceOf, useAct, useAsk, type Output as Answer } from '../api/ask.ts'
import { Badge } from '../parts/Badge.tsx'
import { Button } from '../parts/Button.tsx'
import { inUsdc } from '../../../ui-kit/format.ts'
import { Copy, Duration, Id, inCounts, Money } from '../parts/figures.tsx'
import { InputForm, type Filled } from '../parts/InputForm.tsx'
import { Card, Code, Facts, PageHead } from '../parts/layout.tsx'
import { Output } from '../parts/output/Output.tsx'
import { Awaited, Notice } from '../parts/states.tsx'
import { settings } from '../settings.ts'
import { Calls, Health } from './Tools.tsx'
import { fieldsOf, toInput } from './tools/schema.ts'

type Whole = Answer<'tools.get'>

export default function Tool() {
  const { slug } = useParams<{ slug: string }>()
  const tool = useAsk('tools.get', { slug })
  if (tool.data === undefined) return <Awaited of={tool} />
  const { data } = tool
  return (
    <>
      <PageHead
        title={data.name}
        note={
          <>
            {data.stats.calls > 0 && <Health stats={data.stats} />}
            {data.deprecated && <Badge tone="warn">deprecated</Badge>}
          </>
        }
        back={{ to: '/catalogue', name: 'Tools' }}
      >
        {data.description}
      </PageHead>
      <div className="space-y-6">
        <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <Try key={data.slug} tool={data} />
          <div className="min-w-0 space-y-6">
            <Card title="About">
              <Facts
                facts={[
                  ['Slug', <Id key="slug" value={data.slug} whole />],
                  ['Provider', data.provider],
                  data.category === null ? null : ['Category', data.category],
                  ['Price', data.price === 0 ? 'Free' : <Money key="price" amount={data.price} />],
                  ['Calls of late', inCounts(data.stats.calls)],
                  ['Takes', <Duration key="p50" ms={data.stats.p50} />],
                  ['The slowest', <Duration key="p95" ms={data.stats.p95} />],
                  data.stats.lastError === null ? null : ['Last fault', data.stats.lastError],
                ]}
              />
            </Card>
            <Card title="Over REST" actions={<Copy value={curlOf(data)} label="Copy the line" />}>
              <Code>{curlOf(data)}</Code>
            </Card>
          </div>
        </div>
        <Calls tool={data.slug} />
      </div>
    </>
  )
}

function curlOf({ slug }: Whole): string {
  return `curl -s ${settings.toolsUrl}/${slug} \\
  -H "Authorization: Bearer $COINSLOT_KEY" \\
  -H 'Content-Type: application/json' -d '{}'`
}

function Try({ tool }: { tool: Whole }) {
  const [values, setValues] = useState<Filled>({})
  const [unreadable, setUnreadable] = useState<Readonly<Record<string, string>>>({})
  const call = useAct('tools.try', { changes: ['tools.calls', 'wallet.'], quiet: true, once: true })
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
      <Card title="Try it">
        <form
          noValidate
          className="space-y-4"
          onSubmit={(event) => {
            event.preventDefault()
            // Its fault is shown below.
            start().catch(() => undefined)
          }}
        >
          {fields.length === 0 && <p className="text-quiet">It takes nothing.</p>}
          <InputForm
            fields={fields}
            values={values}
            faults={faults}
            fill={(name, value) => setValues({ ...values, [name]: value })}
          />
          {call.error !== null && !call.error.isSessionOver && (
            <Notice tone="bad">
              {shown ? 'Nothing was called: look at the fields above.' : sentenceOf(call.error)}
            </Notice>
          )}
          <Button type="submit" look="main" className="w-full" busy={call.isPending}>
            {tool.price === 0 ? 'Call it' : `Call it for ${inUsdc(tool.price)} USDC`}
          </Button>
        </form>
      </Card>
      {call.data !== undefined && (
        <div>
          <Output title="Result" output={textOf(call.data.output)} />
          <p className="mt-2 flex flex-wrap justify-between gap-2 text-[0.8125rem] text-quiet">
            <span>
              Cost <Money amount={call.data.cost} />, took <Duration ms={call.data.duration} />
            </span>
            <span>
              Credits left <Money amount={call.data.credits} />
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

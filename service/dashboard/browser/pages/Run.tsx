import { CrossCircledIcon } from '@radix-ui/react-icons'
import { useParams } from 'wouter'
import { useAct, useAsk, foreseen, type Output as Answer } from '../api/ask.ts'
import { StateBadge } from '../parts/Badge.tsx'
import { Button, LinkButton, TextLink } from '../parts/Button.tsx'
import { Copy, Duration, exactly, Id, inCounts, Money, When } from '../parts/figures.tsx'
import { Card, Code, Facts, PageHead } from '../parts/layout.tsx'
import { Output } from '../parts/output/Output.tsx'
import { Awaited, Notice } from '../parts/states.tsx'

type Whole = Answer<'runs.get'>

export default function Run() {
  const { id } = useParams<{ id: string }>()
  const run = useAsk('runs.get', { id })
  const cancel = useAct('runs.cancel', {
    changes: ['runs.', 'wallet.'],
    foresees: () => [
      foreseen('runs.get', (before) =>
        before.id === id && before.status === 'queued' ? { ...before, status: 'canceled' as const } : before,
      ),
    ],
  })
  if (run.data === undefined) return <Awaited of={run} />
  const { data } = run
  return (
    <>
      <PageHead
        title={data.rdaSlug}
        note={<StateBadge state={data.status} />}
        back={{ to: '/runs', name: 'Runs' }}
        actions={
          <>
            {!hasEnded(data) && (
              <Button look="danger" busy={cancel.isPending} onClick={() => cancel.mutate({ id })}>
                <CrossCircledIcon /> Cancel
              </Button>
            )}
            <LinkButton to={`/marketplace/${data.rdaSlug}?again=${data.id}`}>Run again</LinkButton>
          </>
        }
      />
      <div className="grid grid-cols-1 gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0 space-y-6">
          {cancel.data?.status === 'running' && !hasEnded(data) && (
            <Notice tone="warn">The request was sent already, so the run goes on. It is charged if it succeeds.</Notice>
          )}
          <Outcome run={data} />
          <Card title="Input" actions={<Copy value={JSON.stringify(data.inputs)} label="Copy the input" />}>
            <Code>{JSON.stringify(data.inputs, null, 2)}</Code>
          </Card>
        </div>
        <div className="space-y-6">
          <Card title="Figures">
            <Facts
              facts={[
                ['Run', <Id key="id" value={data.id} />],
                [
                  'Asset',
                  <TextLink key="asset" to={`/marketplace/${data.rdaSlug}`}>
                    {data.rdaSlug} {data.rdaVersion}
                  </TextLink>,
                ],
                ['Cost', <Money key="cost" amount={data.cost} />],
                hasEnded(data) ? null : ['Locked', <Money key="locked" amount={data.maxCost} />],
                ['Took', <Duration key="took" ms={data.duration} />],
                data.modelId === null ? null : ['Model', data.modelId],
                data.usage === null
                  ? null
                  : [
                      'Tokens',
                      <span key="tokens" className="tabular-nums">
                        {inCounts(data.usage.prompt_tokens)} in, {inCounts(data.usage.completion_tokens)} out
                      </span>,
                    ],
                data.webhookUrl === null ? null : ['Webhook', data.webhookUrl],
              ]}
            />
          </Card>
          <Card title="Timeline">
            <ol className="space-y-3">
              {data.timeline.map(({ status, at }, place) => (
                <li key={`${status} ${at}`} className="relative flex items-start gap-3">
                  {place < data.timeline.length - 1 && (
                    <span aria-hidden className="absolute top-4 bottom-[-0.9rem] left-[5px] w-px bg-line" />
                  )}
                  <span aria-hidden className={`mt-1 size-[11px] shrink-0 rounded-full border-2 ${dotOf(status)}`} />
                  <span>
                    <span className="font-medium capitalize">{status}</span>
                    <span className="block text-[0.8125rem] text-quiet" title={exactly(at)}>
                      <When at={at} />
                    </span>
                  </span>
                </li>
              ))}
            </ol>
          </Card>
        </div>
      </div>
    </>
  )
}

export function hasEnded({ status }: Pick<Whole, 'status'>): boolean {
  return status !== 'queued' && status !== 'running'
}

function dotOf(status: Whole['status']): string {
  if (status === 'succeeded') return 'border-good bg-good-soft'
  if (status === 'failed') return 'border-bad bg-bad-soft'
  return 'border-field-line bg-paper'
}

/** What came out, or why nothing did. */
export function Outcome({ run }: { run: Whole }) {
  if (run.status === 'succeeded') return <Output title="Output" output={run.output ?? ''} />
  return (
    <Card title="Output">
      {run.status === 'failed' ? (
        <Notice tone="bad">
          {run.error ?? 'The run failed.'} <span className="block text-[0.8125rem]">Nothing was charged.</span>
        </Notice>
      ) : run.status === 'canceled' ? (
        <p className="text-quiet">It was canceled and cost nothing.</p>
      ) : (
        <p role="status" className="animate-wait text-quiet">
          {run.status === 'queued' ? 'Waiting for its turn.' : 'Running.'} What comes out appears here by itself.
        </p>
      )}
    </Card>
  )
}

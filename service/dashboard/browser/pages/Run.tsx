import { CrossCircledIcon } from '@radix-ui/react-icons'
import { useParams } from 'wouter'
import { useAction, useRead, foreseen, type Output as Answer } from '../api/procedures.ts'
import { StateBadge } from '../parts/Badge.tsx'
import { Button, LinkButton, TextLink } from '../parts/Button.tsx'
import { Copy, Duration, exactly, Id, inCounts, Money, When } from '../parts/values.tsx'
import { Card, Code, Columns, Facts, Page } from '../parts/layout.tsx'
import { Output } from '../parts/Output.tsx'
import { Loaded, Notice } from '../parts/states.tsx'

type Run = Answer<'runs.get'>

export default function RunRoute() {
  const { id } = useParams<{ id: string }>()
  const run = useRead('runs.get', { id })
  return <Loaded of={run}>{(data) => <RunPage run={data} />}</Loaded>
}

function RunPage({ run: data }: { run: Run }) {
  const { id } = data
  const cancel = useAction('runs.cancel', {
    changes: ['runs.', 'wallet.'],
    foresees: () => [
      foreseen('runs.get', (before) =>
        before.id === id && before.status === 'queued' ? { ...before, status: 'canceled' as const } : before,
      ),
    ],
  })
  return (
    <Page
      title={data.rdaSlug}
      note={<StateBadge state={data.status} />}
      back={{ to: '/runs', name: 'Runs' }}
      actions={
        <>
          {!hasEnded(data) && (
            <Button variant="danger" busy={cancel.isPending} onClick={() => cancel.mutate({ id })}>
              <CrossCircledIcon /> Cancel run
            </Button>
          )}
          <LinkButton to={`/marketplace/${data.rdaSlug}?again=${data.id}`}>Run again</LinkButton>
        </>
      }
    >
      <Columns>
        <div className="min-w-0 space-y-6">
          {cancel.data?.status === 'running' && !hasEnded(data) && (
            <Notice tone="warn">
              The request was already sent, so the run continues. It is charged if it succeeds.
            </Notice>
          )}
          <Outcome run={data} />
          <Card title="Input" actions={<Copy value={JSON.stringify(data.inputs)} label="Copy the input" />}>
            <Code>{JSON.stringify(data.inputs, null, 2)}</Code>
          </Card>
        </div>
        <div className="space-y-6">
          <Card title="Details">
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
                hasEnded(data) ? null : ['On hold', <Money key="hold" amount={data.maxCost} />],
                ['Duration', <Duration key="took" ms={data.duration} />],
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
      </Columns>
    </Page>
  )
}

export function hasEnded({ status }: Pick<Run, 'status'>): boolean {
  return status !== 'queued' && status !== 'running'
}

function dotOf(status: Run['status']): string {
  if (status === 'succeeded') return 'border-good bg-good-soft'
  if (status === 'failed') return 'border-bad bg-bad-soft'
  return 'border-field-line bg-paper'
}

/** The output of a run, or why there is none. */
export function Outcome({ run }: { run: Run }) {
  if (run.status === 'succeeded') return <Output title="Output" output={run.output ?? ''} />
  return (
    <Card title="Output">
      {run.status === 'failed' ? (
        <Notice tone="bad">
          {run.error ?? 'The run failed.'} <span className="block text-[0.8125rem]">Nothing was charged.</span>
        </Notice>
      ) : run.status === 'canceled' ? (
        <p className="text-quiet">The run was canceled and cost nothing.</p>
      ) : (
        <p role="status" className="animate-wait text-quiet">
          {run.status === 'queued' ? 'Queued.' : 'Running.'} The output appears here when the run ends.
        </p>
      )}
    </Card>
  )
}

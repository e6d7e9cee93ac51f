import { ReloadIcon } from '@radix-ui/react-icons'
import { useSearchParams } from 'wouter'
import { sourceOf } from '../../../../ui-kit/format.ts'
import { useAct, useAsk, type Output } from '../../api/ask.ts'
import { Badge, StateBadge } from '../../parts/Badge.tsx'
import { stateColumn, timeColumn } from '../../parts/columns.tsx'
import { Button } from '../../parts/Button.tsx'
import { Duration, Id, When } from '../../parts/figures.tsx'
import { oneOf, Select } from '../../parts/filters.tsx'
import { Code, Facts } from '../../parts/layout.tsx'
import { List, type Column } from '../../parts/List.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { Awaited, Empty, Notice, Skeleton } from '../../parts/states.tsx'
import { say } from '../../shell/toasts.ts'

type Line = Output<'deliveries.list'>['deliveries'][number]

const STATES = ['pending', 'claimed', 'delivered', 'unconfirmed', 'stopped', 'exhausted'] as const

/** What was sent to one receiver, or to all of them; a delivery opens over the page. */
export function Deliveries({ target }: { target?: string }) {
  const [params, setParams] = useSearchParams()
  const status = oneOf(params.get('delivered') ?? undefined, STATES)
  const open = params.get('delivery')
  const put = (name: string, value: string): void =>
    setParams((before) => {
      if (value === '') before.delete(name)
      else before.set(name, value)
      return before
    })
  const columns: Column<Line>[] = [
    {
      title: 'About',
      show: ({ id, subject }) => (
        <button
          type="button"
          className="block max-w-full truncate font-mono text-[0.8125rem] hover:underline"
          onClick={() => put('delivery', id)}
        >
          {subject}
        </button>
      ),
      csv: ({ subject }) => subject,
    },
    stateColumn('State', ({ status: state }) => state),
    {
      title: 'Last answer',
      show: ({ lastStatus, lastError }) =>
        lastStatus === null ? (
          <span className="block truncate text-quiet">{lastError ?? '–'}</span>
        ) : (
          <Badge tone={lastStatus < 300 ? 'good' : 'bad'}>{lastStatus}</Badge>
        ),
      csv: ({ lastStatus, lastError }) => lastStatus ?? lastError,
      wide: true,
    },
    {
      title: 'Attempts',
      end: true,
      show: ({ attemptCount }) => <span className="tabular-nums">{attemptCount}</span>,
      csv: ({ attemptCount }) => attemptCount,
      wide: true,
    },
    timeColumn('Next', ({ nextAttemptAt }) => nextAttemptAt, { wide: true }),
    timeColumn('Made', ({ createdAt }) => createdAt),
  ]
  return (
    <>
      <List
        path="deliveries.list"
        filter={{ ...(target === undefined ? {} : { target }), ...(status === undefined ? {} : { status }) }}
        filtered={status !== undefined}
        rows={({ deliveries }) => deliveries}
        name="Deliveries"
        title="Deliveries"
        pageKey="deliveries"
        columns={columns}
        controls={
          <Select
            label="State"
            all="All states"
            value={status ?? ''}
            options={STATES.map((state) => [state, state] as const)}
            choose={(value) => put('delivered', value)}
          />
        }
        empty={<Empty title="Nothing was sent yet">Each delivery is kept here with all its attempts.</Empty>}
      />
      {open !== null && <Delivery id={open} close={() => put('delivery', '')} />}
    </>
  )
}

function Delivery({ id, close }: { id: string; close: () => void }) {
  const delivery = useAsk('deliveries.get', { id })
  const redeliver = useAct('deliveries.redeliver', {
    once: true,
    changes: ['deliveries.'],
    done: () => say({ tone: 'good', text: 'It is sent again now, under the same id.' }),
  })
  return (
    <Modal title="Delivery" open close={close} wide>
      {delivery.data === undefined ? (
        <Awaited of={delivery}>
          <Skeleton className="h-48 w-full" />
        </Awaited>
      ) : (
        <div className="space-y-5">
          {delivery.data.status === 'unconfirmed' && (
            <Notice tone="warn">
              It was taken, and nobody knows whether it was worked on. Send it again only if it was not.
            </Notice>
          )}
          <Facts
            facts={[
              ['Id', <Id key="id" value={delivery.data.id} whole />],
              ['State', <StateBadge key="state" state={delivery.data.status} />],
              ['To', delivery.data.url],
              delivery.data.nextAttemptAt === null
                ? null
                : ['Next attempt', <When key="next" at={delivery.data.nextAttemptAt} />],
            ]}
          />
          <section aria-label="Attempts">
            <h3 className="mb-2 font-semibold">Attempts</h3>
            {delivery.data.attempts.length === 0 ? (
              <p className="text-quiet">None yet.</p>
            ) : (
              <ol className="space-y-2">
                {delivery.data.attempts.map((attempt) => (
                  <li key={attempt.at} className="rounded-lg border border-line px-3 py-2">
                    <div className="flex flex-wrap items-center gap-3">
                      <Badge tone={attempt.status !== null && attempt.status < 300 ? 'good' : 'bad'}>
                        {attempt.status ?? 'no answer'}
                      </Badge>
                      <When at={attempt.at} />
                      <span className="text-quiet">
                        <Duration ms={attempt.durationMs} />
                      </span>
                    </div>
                    {(attempt.error ?? attempt.answer ?? '') !== '' && (
                      <p className="mt-1.5 font-mono text-xs break-words whitespace-pre-wrap text-quiet">
                        {attempt.error ?? attempt.answer}
                      </p>
                    )}
                  </li>
                ))}
              </ol>
            )}
          </section>
          <section aria-label="Body">
            <h3 className="mb-2 font-semibold">What is sent</h3>
            <Code>{sourceOf(delivery.data.body)}</Code>
          </section>
          <div className="flex justify-end">
            <Button busy={redeliver.isPending} onClick={() => redeliver.mutate({ id })}>
              <ReloadIcon /> Send again
            </Button>
          </div>
        </div>
      )}
    </Modal>
  )
}

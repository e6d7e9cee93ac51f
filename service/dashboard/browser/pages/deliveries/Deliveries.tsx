import { ReloadIcon } from '@radix-ui/react-icons'
import { useSearchParams } from 'wouter'
import { sourceOf } from '../../../../ui-kit/format.ts'
import { useAction, useRead, type Output } from '../../api/procedures.ts'
import { Badge, StateBadge } from '../../parts/Badge.tsx'
import { countColumn, stateColumn, timeColumn, type Column } from '../../parts/columns.tsx'
import { Button, TextLink } from '../../parts/Button.tsx'
import { Duration, Id, When } from '../../parts/values.tsx'
import { oneOf, Select } from '../../parts/filters.tsx'
import { Code, Facts } from '../../parts/layout.tsx'
import { List } from '../../parts/List.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { Loaded, Empty, Notice, Skeleton } from '../../parts/states.tsx'
import { toast } from '../../shell/toast.ts'

type Delivery = Output<'deliveries.get'>
type Line = Output<'deliveries.list'>['deliveries'][number]

const STATES = ['pending', 'claimed', 'delivered', 'unconfirmed', 'stopped', 'exhausted'] as const

/** The deliveries to one receiver or to all; a selected one opens over the page. */
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
      title: 'Subject',
      render: ({ id, subject }) => (
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
      title: 'Last response',
      render: ({ lastStatus, lastError }) =>
        lastStatus === null ? (
          <span className="block truncate text-quiet">{lastError ?? '–'}</span>
        ) : (
          <Badge tone={lastStatus < 300 ? 'good' : 'bad'}>{lastStatus}</Badge>
        ),
      csv: ({ lastStatus, lastError }) => lastStatus ?? lastError,
      wide: true,
    },
    countColumn('Attempts', ({ attemptCount }) => attemptCount),
    timeColumn('Next attempt', ({ nextAttemptAt }) => nextAttemptAt, { wide: true }),
    timeColumn('Created', ({ createdAt }) => createdAt),
  ]
  return (
    <>
      <List
        path="deliveries.list"
        filter={{ ...(target === undefined ? {} : { target }), ...(status === undefined ? {} : { status }) }}
        filtered={status !== undefined}
        rows={({ deliveries }) => deliveries}
        name="Deliveries"
        titled
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
        empty={
          <Empty title="No deliveries yet">
            Deliveries appear here with all their attempts once an event or a payment is sent.
          </Empty>
        }
      />
      {open !== null && <DeliveryModal id={open} close={() => put('delivery', '')} />}
    </>
  )
}

function DeliveryModal({ id, close }: { id: string; close: () => void }) {
  const delivery = useRead('deliveries.get', { id })
  return (
    <Modal title="Delivery" open close={close} wide>
      <Loaded of={delivery} waiting={<Skeleton className="h-48 w-full" />}>
        {(data) => <DeliveryDetails delivery={data} />}
      </Loaded>
    </Modal>
  )
}

/** `payment`: the payment whose page this is a part of, and has the contents already. */
export function DeliveryDetails({ delivery, payment }: { delivery: Delivery; payment?: string }) {
  const redeliver = useAction('deliveries.redeliver', {
    once: true,
    changes: ['deliveries.'],
    done: () => toast({ tone: 'good', text: 'Delivery is being sent again under the same ID.' }),
  })
  return (
    <div className="space-y-5">
      {delivery.status === 'unconfirmed' && (
        <Notice tone="warn">
          The receiver claimed it but did not confirm it. Check there whether it was processed before you send it again.
        </Notice>
      )}
      <Facts
        facts={[
          ['ID', <Id key="id" value={delivery.id} whole />],
          ['State', <StateBadge key="state" state={delivery.status} />],
          ['URL', delivery.url],
          !delivery.subject.startsWith('pay_') || delivery.subject === payment
            ? null
            : [
                'Payment',
                <TextLink key="payment" to={`/payments/${delivery.subject}`}>
                  {delivery.subject}
                </TextLink>,
              ],
          delivery.nextAttemptAt === null ? null : ['Next attempt', <When key="next" at={delivery.nextAttemptAt} />],
        ]}
      />
      <section aria-label="Attempts">
        <h3 className="mb-2 font-semibold">Attempts</h3>
        {delivery.attempts.length === 0 ? (
          <p className="text-quiet">No attempts yet.</p>
        ) : (
          <ol className="space-y-2">
            {delivery.attempts.map((attempt) => (
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
      {payment === undefined && (
        <section aria-label="Body">
          <h3 className="mb-2 font-semibold">Body</h3>
          <Code>{sourceOf(delivery.body)}</Code>
        </section>
      )}
      <div className="flex justify-end">
        <Button busy={redeliver.isPending} onClick={() => redeliver.mutate({ id: delivery.id })}>
          <ReloadIcon /> Send again
        </Button>
      </div>
    </div>
  )
}

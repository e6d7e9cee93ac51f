import { Pencil1Icon } from '@radix-ui/react-icons'
import { useLocation, useParams } from 'wouter'
import { foreseen, useAct, useAsk, type Output } from '../api/ask.ts'
import { useAsking } from '../parts/asking.ts'
import { Badge, StateBadge } from '../parts/Badge.tsx'
import { idColumn } from '../parts/columns.tsx'
import { Button, LinkButton } from '../parts/Button.tsx'
import { inUsdc } from '../../../ui-kit/format.ts'
import { Copy, Id, inCounts } from '../parts/figures.tsx'
import { Card, Code, DayBars, Facts, Figure, Figures, MoneyFigure, PageHead } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Confirm } from '../parts/Modal.tsx'
import { NewSecret } from '../parts/NewSecret.tsx'
import { paymentColumns, recipientFacts } from '../parts/payments.tsx'
import { Awaited, Empty, Failure, Skeleton } from '../parts/states.tsx'
import { say } from '../shell/toasts.ts'
import { curlOf, type Paywall as Whole } from './paywalls/draft.ts'

type Payment = Output<'paywalls.payments'>['payments'][number]

export default function Paywall() {
  const { id } = useParams<{ id: string }>()
  const [, go] = useLocation()
  const asking = useAsking<'remove' | 'rotate'>()
  const paywall = useAsk('paywalls.get', { id })
  const change = useAct('paywalls.change', {
    changes: ['paywalls.'],
    foresees: ({ body }) => [
      foreseen('paywalls.get', (before) =>
        before.id === id ? { ...before, status: body.status ?? before.status } : before,
      ),
    ],
  })
  const rotate = useAct('paywalls.rotateSecret', { changes: ['paywalls.'] })
  const remove = useAct('paywalls.remove', {
    changes: ['paywalls.list'],
    done: () => {
      say({ tone: 'good', text: 'Removed. Payments under way are still settled.' })
      go('/paywalls')
    },
  })
  const { close } = asking
  if (paywall.data === undefined) return <Awaited of={paywall} />
  const { data } = paywall
  const isOn = data.status === 'active'
  return (
    <>
      <PageHead
        title={data.name}
        note={
          <>
            <StateBadge state={data.status} />
            {data.testMode && <Badge tone="warn">test mode</Badge>}
          </>
        }
        back={{ to: '/paywalls', name: 'Paywalls' }}
        actions={
          <>
            <Button look="danger" onClick={asking.begin('remove')}>
              Remove
            </Button>
            <Button onClick={asking.begin('rotate')}>New secret</Button>
            <Button onClick={() => change.mutate({ id, body: { status: isOn ? 'paused' : 'active' } })}>
              {isOn ? 'Pause' : 'Resume'}
            </Button>
            <LinkButton to={`/paywalls/${id}/edit`} look="main">
              <Pencil1Icon /> Edit
            </LinkButton>
          </>
        }
      />
      <div className="space-y-6">
        <Analytics id={id} />
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <Card title="Terms">
            <Facts
              facts={[
                ['Address', <Id key="url" value={data.url} whole />],
                ['Behind it', data.upstreamUrl],
                ['Headers for it', data.upstreamHeaders.join(', ') || 'None'],
                ...recipientFacts(data),
                ['Id', <Id key="id" value={data.id} whole />],
              ]}
            />
          </Card>
          <div className="min-w-0 space-y-6">
            <Card title="Try it" actions={<Copy value={curlOf(data)} label="Copy the line" />}>
              <Code>{curlOf(data)}</Code>
            </Card>
            <Card title="Routes">
              <ul className="divide-y divide-line">
                {data.routes.map(({ method, path, pricing }) => (
                  <li
                    key={`${method} ${path}`}
                    className="flex flex-wrap justify-between gap-2 py-2 first:pt-0 last:pb-0"
                  >
                    <code className="font-mono text-[0.8125rem] break-all">
                      {method === '*' ? 'ANY' : method} {path}
                    </code>
                    <span className="text-quiet">{priceOf(pricing)}</span>
                  </li>
                ))}
              </ul>
            </Card>
          </div>
        </div>
        <List
          path="paywalls.payments"
          filter={{ id }}
          rows={({ payments }) => payments}
          name="Payments"
          title="Payments"
          columns={PAYMENTS}
          empty={<Empty title="Nobody has paid yet">Copy the line above and see how it goes.</Empty>}
        />
      </div>
      <Confirm
        title={`Remove “${data.name}”?`}
        act="Remove it"
        open={asking.asked === 'remove'}
        close={close}
        confirm={() => remove.mutate({ id })}
      >
        Its address stops answering. Payments under way are still settled.
      </Confirm>
      <NewSecret
        id={id}
        open={asking.asked === 'rotate'}
        note="From now on it signs who paid: your API must know it at once."
        rotate={rotate}
        close={close}
      />
    </>
  )
}

function Analytics({ id }: { id: string }) {
  const { data, error, refetch } = useAsk('paywalls.analytics', { id, days: 30 })
  if (error !== null && data === undefined) return <Failure fault={error} again={() => void refetch()} />
  if (data === undefined) return <Skeleton className="h-80 w-full" />
  const refused = Object.entries(data.total.refusals).sort(([, one], [, other]) => other - one)
  return (
    <>
      <Figures>
        <MoneyFigure name="Revenue" note="In all" amount={data.revenue} />
        <Figure name="Customers" note="In all">
          {inCounts(data.customers)}
        </Figure>
        <Figure name="Calls" note="In 30 days">
          {inCounts(data.total.calls)}
        </Figure>
        <Figure name="Payments" note="In 30 days">
          {inCounts(data.total.payments)}
        </Figure>
        <Figure
          name="Refused"
          note={
            refused.map(([reason, count]) => `${reason.replaceAll('_', ' ')} ${String(count)}`).join(', ') ||
            'In 30 days'
          }
        >
          {inCounts(refused.reduce((sum, [, count]) => sum + count, 0))}
        </Figure>
      </Figures>
      <DayBars
        title="Revenue by day"
        label="USDC received by day, the last 30 days"
        rows={data.days.map(({ day, revenue }) => ({ day, revenue }))}
        series={[{ key: 'revenue', name: 'Revenue', tone: 'accent' }]}
        days={30}
        show={(value) => `${inUsdc(value)} USDC`}
      />
    </>
  )
}

function priceOf(pricing: Whole['routes'][number]['pricing']): string {
  const amount = typeof pricing['amount'] === 'number' ? inUsdc(pricing['amount']) : ''
  switch (pricing.model) {
    case 'free':
      return 'Free'
    case 'per-request':
      return `${amount} USDC a request`
    case 'tiered':
      return 'Tiered'
    case 'per-token':
      return 'By the token'
    case 'per-minute':
      return `${amount} USDC a minute`
  }
}

const PAYMENTS = paymentColumns<Payment>(
  ({ reason }) => reason,
  [
    {
      title: 'Endpoint',
      show: ({ endpoint }) => <span className="block truncate">{endpoint}</span>,
      csv: ({ endpoint }) => endpoint,
      wide: true,
    },
    idColumn('Payer', ({ payer }) => payer, { wide: true }),
  ],
)

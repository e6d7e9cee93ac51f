import { Pencil1Icon } from '@radix-ui/react-icons'
import { useLocation, useParams } from 'wouter'
import { foreseenFields, useAction, useRead, type Output } from '../api/procedures.ts'
import { useDialog, Confirm } from '../parts/Modal.tsx'
import { Badge, StateBadge } from '../parts/Badge.tsx'
import { idColumn, textColumn } from '../parts/columns.tsx'
import { Button, LinkButton } from '../parts/Button.tsx'
import { inUsdc } from '../../../ui-kit/format.ts'
import { Copy, Id, inCounts } from '../parts/values.tsx'
import { Card, Code, DayBars, Facts, Metric, Metrics, MoneyMetric, Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { RotateSecret } from '../parts/Secret.tsx'
import { paymentColumns, recipientFacts } from '../parts/payments.tsx'
import { Empty, Loaded, Skeleton } from '../parts/states.tsx'
import { Unserved } from '../parts/Unserved.tsx'
import { toast } from '../shell/toast.ts'
import { curlOf, type Paywall } from './paywalls/draft.ts'

type Payment = Output<'paywalls.payments'>['payments'][number]

export default function PaywallRoute() {
  const { id } = useParams<{ id: string }>()
  const paywall = useRead('paywalls.get', { id })
  return <Loaded of={paywall}>{(data) => <PaywallPage paywall={data} />}</Loaded>
}

function PaywallPage({ paywall }: { paywall: Paywall }) {
  const { id } = paywall
  const example = curlOf(paywall)
  return (
    <Page
      title={paywall.name}
      note={
        <>
          <StateBadge state={paywall.status} />
          {paywall.testMode && <Badge tone="warn">test mode</Badge>}
        </>
      }
      back={{ to: '/paywalls', name: 'Paywalls' }}
      actions={<Actions paywall={paywall} />}
    >
      <Unserved of="paywalls" sold={paywall} />
      <Analytics id={id} />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <Card title="Terms">
          <Facts
            facts={[
              ['Public URL', <Id key="url" value={paywall.url} whole />],
              ['Your API', paywall.upstreamUrl],
              ['Headers', paywall.upstreamHeaders.join(', ') || 'None'],
              ...recipientFacts(paywall),
              ['ID', <Id key="id" value={id} whole />],
            ]}
          />
        </Card>
        <div className="min-w-0 space-y-6">
          <Card title="Example" actions={<Copy value={example} label="Copy the command" />}>
            <Code>{example}</Code>
          </Card>
          <Card title="Routes">
            <ul className="divide-y divide-line">
              {paywall.routes.map(({ method, path, pricing }) => (
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
        titled
        {...PAYMENTS}
        empty={<Empty title="No payments yet">Run the example command above to make the first one.</Empty>}
      />
    </Page>
  )
}

function Actions({ paywall: { id, name, status } }: { paywall: Paywall }) {
  const [, go] = useLocation()
  const dialog = useDialog<'remove' | 'rotate'>()
  const isOn = status === 'active'
  const change = useAction('paywalls.change', {
    changes: ['paywalls.'],
    foresees: ({ body }) => [foreseenFields('paywalls.get', id, { status: body.status ?? status })],
  })
  const rotate = useAction('paywalls.rotateSecret', { changes: ['paywalls.'] })
  const remove = useAction('paywalls.remove', {
    changes: ['paywalls.list'],
    done: () => {
      toast({ tone: 'good', text: 'Paywall removed. Pending payments are still settled.' })
      go('/paywalls')
    },
  })
  return (
    <>
      <Button variant="danger" onClick={dialog.open('remove')}>
        Remove
      </Button>
      <Button onClick={dialog.open('rotate')}>Rotate secret</Button>
      <Button onClick={() => change.mutate({ id, body: { status: isOn ? 'paused' : 'active' } })}>
        {isOn ? 'Pause' : 'Resume'}
      </Button>
      <LinkButton to={`/paywalls/${id}/edit`} variant="main">
        <Pencil1Icon /> Edit
      </LinkButton>
      <Confirm
        title={`Remove “${name}”?`}
        act="Remove paywall"
        open={dialog.shown === 'remove'}
        close={dialog.close}
        confirm={() => remove.mutate({ id })}
      >
        Its public URL stops working. Pending payments are still settled.
      </Confirm>
      <RotateSecret
        id={id}
        open={dialog.shown === 'rotate'}
        note="The new secret signs every request to your API at once. Update your API now."
        rotate={rotate}
        close={dialog.close}
      />
    </>
  )
}

function Analytics({ id }: { id: string }) {
  const analytics = useRead('paywalls.analytics', { id, days: 30 })
  return (
    <Loaded of={analytics} waiting={<Skeleton className="h-80 w-full" />}>
      {(data) => <AnalyticsCards analytics={data} />}
    </Loaded>
  )
}

function AnalyticsCards({ analytics: data }: { analytics: Output<'paywalls.analytics'> }) {
  const refused = Object.entries(data.total.refusals).sort(([, one], [, other]) => other - one)
  return (
    <>
      <Metrics>
        <MoneyMetric name="Revenue" note="All time" amount={data.revenue} />
        <Metric name="Customers" note="All time">
          {inCounts(data.customers)}
        </Metric>
        <Metric name="Calls" note="Last 30 days">
          {inCounts(data.total.calls)}
        </Metric>
        <Metric name="Payments" note="Last 30 days">
          {inCounts(data.total.payments)}
        </Metric>
        <Metric
          name="Refused"
          note={
            refused.map(([reason, count]) => `${reason.replaceAll('_', ' ')} ${String(count)}`).join(', ') ||
            'Last 30 days'
          }
        >
          {inCounts(refused.reduce((sum, [, count]) => sum + count, 0))}
        </Metric>
      </Metrics>
      <DayBars
        title="Revenue by day"
        label="USDC received by day, the last 30 days"
        rows={data.days.map(({ day, revenue }) => ({ day, revenue }))}
        series={[{ key: 'revenue', name: 'Revenue', tone: 'accent' }]}
        days={30}
        format={(value) => `${inUsdc(value)} USDC`}
      />
    </>
  )
}

function priceOf(pricing: Paywall['routes'][number]['pricing']): string {
  const amount = typeof pricing['amount'] === 'number' ? inUsdc(pricing['amount']) : ''
  switch (pricing.model) {
    case 'free':
      return 'Free'
    case 'per-request':
      return `${amount} USDC per request`
    case 'tiered':
      return 'Tiered'
    case 'per-token':
      return 'Per token'
    case 'per-minute':
      return `${amount} USDC per minute`
  }
}

const PAYMENTS = paymentColumns<Payment>(
  ({ reason }) => reason,
  [
    textColumn('Endpoint', ({ endpoint }) => endpoint, { wide: true }),
    idColumn('Payer', ({ payer }) => payer, { wide: true }),
  ],
)

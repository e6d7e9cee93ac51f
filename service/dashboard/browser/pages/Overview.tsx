import { ArrowRightIcon, ExclamationTriangleIcon } from '@radix-ui/react-icons'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useRead } from '../api/procedures.ts'
import { NameLink } from '../parts/columns.tsx'
import { StateBadge } from '../parts/Badge.tsx'
import { LinkButton, TextLink } from '../parts/Button.tsx'
import { inCounts, Money, When } from '../parts/values.tsx'
import { Card, Metrics, MoneyMetric, Page } from '../parts/layout.tsx'
import { Failure, Loaded, Skeleton } from '../parts/states.tsx'
import { Approvals } from './agents/Approvals.tsx'
import { Figures } from './overview/Figures.tsx'
import { MOVEMENT_NAMES } from './wallet/movements.ts'
import { boughtName, PaymentState } from './payments/words.tsx'
import { useProgress } from './start/progress.ts'

/** The account at a glance, and what needs attention. */
export default function Overview() {
  const wallet = useRead('wallet.balance', undefined)
  const credits = useRead('wallet.credits', undefined)
  const { steps, isSellingByApi } = useProgress()
  const { data } = wallet
  if (wallet.error !== null && data === undefined)
    return (
      <Page title="Overview">
        <Failure fault={wallet.error} again={() => void wallet.refetch()} />
      </Page>
    )
  return (
    <Page title="Overview">
      {steps.includes(false) && !isSellingByApi && <Guide done={steps.filter((step) => step).length} />}
      <Issues />
      <Approvals />
      <Metrics>
        <MoneyMetric name="Available" amount={data?.availableBalance} />
        <MoneyMetric name="On hold" amount={data?.totalLocked} />
        <MoneyMetric name="Credits" amount={credits.data?.balance} />
      </Metrics>
      <Figures />
      <LatestPayments />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <LatestRuns />
        <LatestMovements />
      </div>
    </Page>
  )
}

function Guide({ done }: { done: number }) {
  return (
    <section
      aria-label="First steps"
      className="flex flex-wrap items-center gap-4 rounded-xl border border-accent bg-accent-soft p-4"
    >
      <div className="min-w-0 flex-1">
        <h2 className="font-semibold">Your first paid workflow</h2>
        <p className="text-quiet">
          {done === 0 ? 'Five steps, about ten minutes.' : `${String(done)} of 5 steps are done.`}
        </p>
      </div>
      <LinkButton to="/start" variant="main">
        {done === 0 ? 'Start setup' : 'Continue setup'} <ArrowRightIcon />
      </LinkButton>
    </section>
  )
}

/** Problems that stay until a person deals with them. */
function Issues() {
  const page = { limit: 1, offset: 0 }
  const unconfirmed = useRead('deliveries.list', { status: 'unconfirmed', ...page })
  const exhausted = useRead('deliveries.list', { status: 'exhausted', ...page })
  const stopped = useRead('deliveries.list', { status: 'stopped', ...page })
  const endpoints = useRead('webhooks.list', { limit: 100, offset: 0 })
  const checkouts = useRead('checkouts.list', { limit: 100, offset: 0 })
  const paused = checkouts.data?.checkouts.filter(({ status }) => status === 'paused') ?? []
  const failing =
    endpoints.data?.endpoints.filter(({ failingSince, status }) => status === 'enabled' && failingSince !== null) ?? []
  const issues: readonly (readonly [count: number, one: string, more: string, to: string])[] = [
    [
      unconfirmed.data?.total ?? 0,
      'delivery is not confirmed',
      'deliveries are not confirmed',
      '/webhooks?delivered=unconfirmed',
    ],
    [
      exhausted.data?.total ?? 0,
      'delivery failed at every attempt',
      'deliveries failed at every attempt',
      '/webhooks?delivered=exhausted',
    ],
    [
      stopped.data?.total ?? 0,
      'delivery was refused by its receiver',
      'deliveries were refused by their receivers',
      '/webhooks?delivered=stopped',
    ],
    [failing.length, 'webhook endpoint is failing', 'webhook endpoints are failing', '/webhooks'],
    [
      paused.length,
      'checkout is paused, because its workflow does not answer',
      'checkouts are paused, because their workflows do not answer',
      '/checkouts',
    ],
  ]
  const real = issues.filter(([count]) => count > 0)
  if (real.length === 0) return null
  return (
    <section aria-label="Issues" className="rounded-xl bg-warn-soft p-4 text-warn">
      <ul className="space-y-1.5">
        {real.map(([count, one, more, to]) => (
          <li key={one} className="flex items-center gap-2">
            <ExclamationTriangleIcon className="shrink-0" />
            <Link to={to} className="hover:underline">
              <strong className="font-semibold tabular-nums">{inCounts(count)}</strong> {count === 1 ? one : more}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

function LatestPayments() {
  const payments = useRead('payments.list', { limit: 6 })
  const none = (
    <>
      No payments yet. <TextLink to="/checkouts/new">Create a checkout</TextLink>
    </>
  )
  return (
    <Card title="Latest payments" actions={<TextLink to="/payments">View all</TextLink>} flush>
      <Loaded of={payments} waiting={<Skeleton className="m-4 h-40" />}>
        {(data) => (
          <Latest none={none}>
            {data.payments.map((payment) => (
              <LatestLine key={payment.id} at={payment.createdAt} amount={<Money amount={payment.amount} />}>
                <NameLink to={`/payments/${payment.id}`}>{boughtName(payment)}</NameLink>
                <PaymentState payment={payment} />
              </LatestLine>
            ))}
          </Latest>
        )}
      </Loaded>
    </Card>
  )
}

function LatestRuns() {
  const runs = useRead('runs.list', { limit: 6, offset: 0 })
  const none = (
    <>
      No runs yet. <TextLink to="/marketplace">Browse the marketplace</TextLink>
    </>
  )
  return (
    <Card title="Latest runs" actions={<TextLink to="/runs">View all</TextLink>} flush>
      <Loaded of={runs} waiting={<Skeleton className="m-4 h-40" />}>
        {(data) => (
          <Latest none={none}>
            {data.runs.map(({ id, rdaSlug, status, createdAt, cost }) => (
              <LatestLine key={id} at={createdAt} amount={<Money amount={cost} />}>
                <NameLink to={`/runs/${id}`}>{rdaSlug}</NameLink>
                <StateBadge state={status} />
              </LatestLine>
            ))}
          </Latest>
        )}
      </Loaded>
    </Card>
  )
}

function LatestMovements() {
  const movements = useRead('wallet.transactions', { limit: 6, offset: 0 })
  const none = (
    <>
      No transactions yet. <TextLink to="/wallet?do=add">Add funds</TextLink>
    </>
  )
  return (
    <Card title="Latest transactions" actions={<TextLink to="/wallet">View all</TextLink>} flush>
      <Loaded of={movements} waiting={<Skeleton className="m-4 h-40" />}>
        {(data) => (
          <Latest none={none}>
            {data.transactions.map(({ id, type, createdAt, amount }) => (
              <LatestLine key={id} at={createdAt} amount={<Money amount={amount} signed />}>
                <span className="font-medium">{MOVEMENT_NAMES[type]}</span>
              </LatestLine>
            ))}
          </Latest>
        )}
      </Loaded>
    </Card>
  )
}

function Latest({ none, children }: { none: ReactNode; children: readonly ReactNode[] }) {
  if (children.length === 0) return <p className="px-4 py-10 text-center text-quiet">{none}</p>
  return <ul className="divide-y divide-line">{children}</ul>
}

function LatestLine({ at, amount, children }: { at: string; amount: ReactNode; children: ReactNode }) {
  return (
    <li className="flex items-center gap-3 px-4 py-2.5">
      <span className="flex min-w-0 flex-1 items-center gap-2">{children}</span>
      <span className="text-quiet max-sm:hidden">
        <When at={at} />
      </span>
      <span className="text-right">{amount}</span>
    </li>
  )
}

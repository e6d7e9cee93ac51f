import { ArrowRightIcon, ExclamationTriangleIcon } from '@radix-ui/react-icons'
import type { ComponentProps, ReactNode } from 'react'
import { Link } from 'wouter'
import { useAsk } from '../api/ask.ts'
import { StateBadge } from '../parts/Badge.tsx'
import { LinkButton, TextLink } from '../parts/Button.tsx'
import { inCounts, Money, When } from '../parts/figures.tsx'
import { Card, Figures, MoneyFigure, PageHead } from '../parts/layout.tsx'
import { Awaited, Failure, Skeleton } from '../parts/states.tsx'
import { Approvals } from './agents/Approvals.tsx'
import { Month } from './overview/Month.tsx'
import { MOVEMENT_NAMES } from './wallet/movements.ts'
import { useProgress } from './start/progress.ts'

/** What there is to know at a glance, and what wants something of whoever looks. */
export default function Overview() {
  const wallet = useAsk('wallet.balance', undefined)
  const credits = useAsk('wallet.credits', undefined)
  const { steps, isSellingByApi } = useProgress()
  if (wallet.error !== null && wallet.data === undefined) {
    return (
      <>
        <PageHead title="Overview" />
        <Failure fault={wallet.error} again={() => void wallet.refetch()} />
      </>
    )
  }
  const { data } = wallet
  return (
    <>
      <PageHead title="Overview" />
      <div className="space-y-6">
        {steps.includes(false) && !isSellingByApi && <Guide done={steps.filter((step) => step).length} />}
        <Troubles />
        <Approvals />
        <Figures>
          <MoneyFigure name="Available" amount={data?.availableBalance} />
          <MoneyFigure name="Locked" amount={data?.totalLocked} />
          <MoneyFigure name="Credits" amount={credits.data?.balance} />
        </Figures>
        <Month />
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <LatestRuns />
          <LatestMovements />
        </div>
      </div>
    </>
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
          {done === 0 ? 'Five steps, some ten minutes.' : `${String(done)} of 5 steps are done.`}
        </p>
      </div>
      <LinkButton to="/start" look="main">
        {done === 0 ? 'Begin' : 'Go on'} <ArrowRightIcon />
      </LinkButton>
    </section>
  )
}

/** What went wrong and goes on being wrong until somebody looks. */
function Troubles() {
  const page = { limit: 1, offset: 0 }
  const unconfirmed = useAsk('deliveries.list', { status: 'unconfirmed', ...page })
  const exhausted = useAsk('deliveries.list', { status: 'exhausted', ...page })
  const endpoints = useAsk('webhooks.list', { limit: 100, offset: 0 })
  const checkouts = useAsk('checkouts.list', { limit: 100, offset: 0 })
  const paused = checkouts.data?.checkouts.filter(({ status }) => status === 'paused') ?? []
  const failing =
    endpoints.data?.endpoints.filter(({ failingSince, status }) => status === 'enabled' && failingSince !== null) ?? []
  const troubles: readonly (readonly [count: number, one: string, more: string, to: string])[] = [
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
    [failing.length, 'webhook endpoint is failing', 'webhook endpoints are failing', '/webhooks'],
    [
      paused.length,
      'checkout is paused, because its workflow does not answer',
      'checkouts are paused, because their workflows do not answer',
      '/checkouts',
    ],
  ]
  const real = troubles.filter(([count]) => count > 0)
  if (real.length === 0) return null
  return (
    <section aria-label="Needs a look" className="rounded-xl bg-warn-soft p-4 text-warn">
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

function LatestRuns() {
  const runs = useAsk('runs.list', { limit: 6, offset: 0 })
  return (
    <Latest
      title="Latest runs"
      all="/runs"
      asked={runs}
      none={['Nothing was run yet.', '/marketplace', 'Browse the marketplace']}
      lines={runs.data?.runs.map(({ id, rdaSlug, status, createdAt, cost }) => ({
        id,
        name: (
          <Link to={`/runs/${id}`} className="truncate font-medium hover:underline">
            {rdaSlug}
          </Link>
        ),
        note: <StateBadge state={status} />,
        at: createdAt,
        amount: <Money amount={cost} />,
      }))}
    />
  )
}

function LatestMovements() {
  const movements = useAsk('wallet.transactions', { limit: 6, offset: 0 })
  return (
    <Latest
      title="Latest movements"
      all="/wallet"
      asked={movements}
      none={['Nothing has moved yet.', '/wallet?do=add', 'Add funds']}
      lines={movements.data?.transactions.map(({ id, type, createdAt, amount }) => ({
        id,
        name: <span className="font-medium">{MOVEMENT_NAMES[type]}</span>,
        note: null,
        at: createdAt,
        amount: <Money amount={amount} signed />,
      }))}
    />
  )
}

interface LatestProps {
  title: string
  /** Where all of them are. */
  all: string
  asked: ComponentProps<typeof Awaited>['of']
  none: readonly [text: string, to: string, act: string]
  lines: readonly { id: string; name: ReactNode; note: ReactNode; at: string; amount: ReactNode }[] | undefined
}

function Latest({ title, all, asked, none: [none, to, act], lines }: LatestProps) {
  return (
    <Card title={title} actions={<TextLink to={all}>All of them</TextLink>} flush>
      {lines === undefined ? (
        <Awaited of={asked}>
          <Skeleton className="m-4 h-40" />
        </Awaited>
      ) : lines.length === 0 ? (
        <p className="px-4 py-10 text-center text-quiet">
          {none} <TextLink to={to}>{act}</TextLink>
        </p>
      ) : (
        <ul className="divide-y divide-line">
          {lines.map(({ id, name, note, at, amount }) => (
            <li key={id} className="flex items-center gap-3 px-4 py-2.5">
              <span className="flex min-w-0 flex-1 items-center gap-2">
                {name}
                {note}
              </span>
              <span className="text-quiet max-sm:hidden">
                <When at={at} />
              </span>
              <span className="text-right">{amount}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

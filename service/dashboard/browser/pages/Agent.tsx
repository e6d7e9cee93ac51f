import { Pencil1Icon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { useLocation, useParams } from 'wouter'
import { foreseen, useAct, useAsk, type Output } from '../api/ask.ts'
import { StateBadge } from '../parts/Badge.tsx'
import { moneyColumn, stateColumn, textColumn, timeColumn } from '../parts/columns.tsx'
import { Button, LinkButton } from '../parts/Button.tsx'
import { inUsdc } from '../../../ui-kit/format.ts'
import { Dash, Id, inCounts, Money, When } from '../parts/figures.tsx'
import { Card, DayBars, Facts, PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Confirm } from '../parts/Modal.tsx'
import { Awaited, Empty, Notice, Skeleton } from '../parts/states.tsx'
import { say } from '../shell/toasts.ts'
import { LIMITS } from './agents/policy.ts'

type Standing = Output<'spending.standing'>
type Decision = Output<'spending.decisions'>['decisions'][number]

export default function Agent() {
  const { id } = useParams<{ id: string }>()
  const [, go] = useLocation()
  const [removing, setRemoving] = useState(false)
  const agent = useAsk('spending.agent', { id })
  const standing = useAsk('spending.standing', { id })
  const spent = useAsk('spending.spent', { id, by: 'day', days: 30 })
  const pause = useAct('spending.pause', {
    changes: ['spending.'],
    foresees: ({ paused }) => [
      foreseen('spending.agent', (before) =>
        before.id === id ? { ...before, status: paused ? ('paused' as const) : ('active' as const) } : before,
      ),
    ],
    done: (_agent, { paused }) =>
      say({ tone: 'good', text: paused ? 'Paused: every call is refused from now on.' : 'It may spend again.' }),
  })
  const remove = useAct('spending.removeAgent', {
    changes: ['spending.agents', 'identity.keys.'],
    done: () => {
      say({ tone: 'good', text: 'Removed.' })
      go('/agents')
    },
  })
  if (agent.data === undefined) return <Awaited of={agent} />
  const { data } = agent
  const paused = data.status === 'paused'
  return (
    <>
      <PageHead
        title={data.name}
        note={<StateBadge state={data.status} />}
        back={{ to: '/agents', name: 'Agents' }}
        actions={
          <>
            <Button look="danger" onClick={() => setRemoving(true)}>
              Remove
            </Button>
            <Button onClick={() => pause.mutate({ id, paused: !paused })}>{paused ? 'Resume' : 'Pause'}</Button>
            <LinkButton to="/keys?new=1">New key</LinkButton>
            <LinkButton to={`/agents/${id}/edit`} look="main">
              <Pencil1Icon /> Edit rules
            </LinkButton>
          </>
        }
      />
      <div className="space-y-6">
        {data.warnings.map((warning) => (
          <Notice key={warning} tone="warn">
            {warning}
          </Notice>
        ))}
        <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
          <Card title="Spent against its limits">
            {standing.data === undefined ? <Skeleton className="h-40 w-full" /> : <Windows standing={standing.data} />}
          </Card>
          <Card title="Rules">
            <Facts
              facts={[
                ['Id', <Id key="id" value={data.id} />],
                [
                  'A call',
                  data.limits.perCall === null ? 'No limit' : <Money key="call" amount={data.limits.perCall} />,
                ],
                [
                  'Asks above',
                  data.approvalAbove === null ? 'Never' : <Money key="above" amount={data.approvalAbove} />,
                ],
                ['At a limit', data.onExceeded === 'pause' ? 'Is paused' : 'Is refused'],
                ...(['tools', 'rdas', 'domains'] as const).map((of) => [NAMES[of], patternsOf(data[of])] as const),
              ]}
            />
          </Card>
        </div>
        <DayBars
          title="Spent by day"
          label="USDC spent by day, the last 30 days"
          rows={spent.data?.map(({ key, amount }) => ({ day: key, amount }))}
          series={[{ key: 'amount', name: 'Spent', tone: 'accent' }]}
          days={30}
          show={(value) => `${inUsdc(value)} USDC`}
        />
        <List
          path="spending.decisions"
          filter={{ id }}
          rows={({ decisions }) => decisions}
          name="Decisions"
          title="Decisions"
          columns={DECISIONS}
          empty={
            <Empty title="Nothing was asked yet">Every call of its keys is kept here, with what decided it.</Empty>
          }
        />
      </div>
      <Confirm
        title={`Remove “${data.name}”?`}
        act="Remove it"
        open={removing}
        close={() => setRemoving(false)}
        confirm={() => remove.mutate({ id })}
      >
        Keys that are bound to it stop working.
      </Confirm>
    </>
  )
}

const NAMES = { tools: 'Tools', rdas: 'Assets', domains: 'Addresses' }

function patternsOf({ allow, deny }: { allow: readonly string[] | null; deny: readonly string[] }): string {
  const allowed = allow === null ? 'All' : allow.length === 0 ? 'None' : allow.join(', ')
  return deny.length === 0 ? allowed : `${allowed}, never ${deny.join(', ')}`
}

function Windows({ standing }: { standing: Standing }) {
  return (
    <ul className="space-y-3.5">
      {standing.windows.map(({ limit, allowed, spent, resetsAt }) => {
        const part = allowed === null || allowed === 0 ? 0 : Math.min(1, spent / allowed)
        return (
          <li key={limit}>
            <div className="mb-1 flex flex-wrap items-baseline justify-between gap-2">
              <span className="font-medium">{LIMITS[limit]}</span>
              <span className="text-[0.8125rem]">
                <Money amount={spent} /> <span className="text-quiet">of</span>{' '}
                {allowed === null ? <span className="text-quiet">no limit</span> : <Money amount={allowed} />}
              </span>
            </div>
            <div
              role="meter"
              aria-label={`Spent: ${LIMITS[limit]}`}
              aria-valuemin={0}
              aria-valuemax={allowed ?? Math.max(spent, 1)}
              aria-valuenow={spent}
              className="h-1.5 overflow-hidden rounded-full bg-sunk"
            >
              <div
                className={`h-full rounded-full ${part >= 1 ? 'bg-bad' : part >= 0.8 ? 'bg-warn' : 'bg-accent'}`}
                style={{ width: `${String(part * 100)}%` }}
              />
            </div>
            {resetsAt !== null && allowed !== null && (
              <p className="mt-1 text-xs text-quiet">
                Begins anew <When at={resetsAt} />
              </p>
            )}
          </li>
        )
      })}
      <li className="flex justify-between border-t border-line pt-3">
        <span className="font-medium">Calls this minute</span>
        <span className="tabular-nums">
          {inCounts(standing.calls.made)} <span className="text-quiet">of</span> {standing.calls.allowed ?? 'no limit'}
        </span>
      </li>
    </ul>
  )
}

const DECISIONS: Column<Decision>[] = [
  {
    title: 'On',
    show: ({ target }) => <span className="block truncate font-medium">{target}</span>,
    csv: ({ target }) => target,
  },
  textColumn('Kind', ({ kind }) => kind, { wide: true }),
  stateColumn('Word', ({ outcome }) => outcome),
  {
    title: 'Rule',
    show: ({ rule, pattern }) => (rule === null ? <Dash /> : `${rule}${pattern === null ? '' : `: ${pattern}`}`),
    csv: ({ rule }) => rule,
    wide: true,
  },
  timeColumn('When', ({ at }) => at, { wide: true }),
  moneyColumn('Amount', ({ amount }) => amount),
]

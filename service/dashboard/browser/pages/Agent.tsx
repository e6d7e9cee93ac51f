import { Pencil1Icon } from '@radix-ui/react-icons'
import { useLocation, useParams } from 'wouter'
import { foreseenFields, useAction, useRead, type Output } from '../api/procedures.ts'
import { StateBadge } from '../parts/Badge.tsx'
import { moneyColumn, stateColumn, textColumn, timeColumn, type Column } from '../parts/columns.tsx'
import { Button, LinkButton } from '../parts/Button.tsx'
import { inUsdc } from '../../../ui-kit/format.ts'
import { Dash, Id, inCounts, Money, When } from '../parts/values.tsx'
import { Card, Columns, DayBars, Facts, Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Confirm, useDialog } from '../parts/Modal.tsx'
import { Empty, Loaded, Notice, Skeleton } from '../parts/states.tsx'
import { toast } from '../shell/toast.ts'
import { LIMITS, type Agent } from './agents/policy.ts'

type Standing = Output<'spending.standing'>
type Decision = Output<'spending.decisions'>['decisions'][number]

export default function AgentRoute() {
  const { id } = useParams<{ id: string }>()
  const agent = useRead('spending.agent', { id })
  return <Loaded of={agent}>{(data) => <AgentPage agent={data} />}</Loaded>
}

function AgentPage({ agent }: { agent: Agent }) {
  const { id } = agent
  const standing = useRead('spending.standing', { id })
  const spent = useRead('spending.spent', { id, by: 'day', days: 30 })
  return (
    <Page
      title={agent.name}
      note={<StateBadge state={agent.status} />}
      back={{ to: '/agents', name: 'Agents' }}
      actions={<Actions agent={agent} />}
    >
      {agent.warnings.map((warning) => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
      <Columns>
        <Card title="Spending">
          <Loaded of={standing} waiting={<Skeleton className="h-40 w-full" />}>
            {(data) => <Windows standing={data} />}
          </Loaded>
        </Card>
        <Card title="Rules">
          <Facts facts={rulesOf(agent)} />
        </Card>
      </Columns>
      <DayBars
        title="Spending by day"
        label="USDC spent by day, the last 30 days"
        rows={spent.data?.map(({ key, amount }) => ({ day: key, amount }))}
        series={[{ key: 'amount', name: 'Spent', tone: 'accent' }]}
        days={30}
        format={(value) => `${inUsdc(value)} USDC`}
      />
      <List
        path="spending.decisions"
        filter={{ id }}
        rows={({ decisions }) => decisions}
        name="Decisions"
        titled
        columns={DECISIONS}
        empty={
          <Empty title="No decisions yet">
            Each call with this agent’s keys appears here, with the rule that decided it.
          </Empty>
        }
      />
    </Page>
  )
}

function Actions({ agent: { id, name, status } }: { agent: Agent }) {
  const [, go] = useLocation()
  const dialog = useDialog<'remove'>()
  const paused = status === 'paused'
  const pause = useAction('spending.pause', {
    changes: ['spending.'],
    foresees: (input) => [foreseenFields('spending.agent', id, { status: input.paused ? 'paused' : 'active' })],
    done: (_agent, input) =>
      toast({
        tone: 'good',
        text: input.paused ? 'Agent paused. Every call is refused until you resume it.' : 'Agent resumed.',
      }),
  })
  const remove = useAction('spending.removeAgent', {
    changes: ['spending.agents', 'identity.keys.'],
    done: () => {
      toast({ tone: 'good', text: 'Agent removed.' })
      go('/agents')
    },
  })
  return (
    <>
      <Button variant="danger" onClick={dialog.open('remove')}>
        Remove
      </Button>
      <Button onClick={() => pause.mutate({ id, paused: !paused })}>{paused ? 'Resume' : 'Pause'}</Button>
      <LinkButton to={`/keys?new=1&agent=${id}`}>Create key</LinkButton>
      <LinkButton to={`/agents/${id}/edit`} variant="main">
        <Pencil1Icon /> Edit rules
      </LinkButton>
      <Confirm
        title={`Remove “${name}”?`}
        act="Remove agent"
        open={dialog.shown === 'remove'}
        close={dialog.close}
        confirm={() => remove.mutate({ id })}
      >
        API keys that are bound to it stop working.
      </Confirm>
    </>
  )
}

function rulesOf(agent: Agent) {
  const { limits, approvalAbove, onExceeded, defaultPerDay } = agent
  return [
    ['ID', <Id key="id" value={agent.id} />],
    ['Per call', limits.perCall === null ? 'No limit' : <Money key="call" amount={limits.perCall} />],
    ...(defaultPerDay === null
      ? []
      : [['Per day on others’ assets', <Money key="default" amount={defaultPerDay} />] as const]),
    ['Approval above', approvalAbove === null ? 'Never' : <Money key="above" amount={approvalAbove} />],
    ['At a limit', onExceeded === 'pause' ? 'Pause the agent' : 'Refuse the call'],
    ...(['tools', 'rdas', 'domains'] as const).map((list) => [NAMES[list], patternsOf(agent[list])] as const),
  ] as const
}

const NAMES = { tools: 'Tools', rdas: 'Assets', domains: 'URLs' }

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
                Resets <When at={resetsAt} />
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
  textColumn('Target', ({ target }) => target),
  textColumn('Type', ({ kind }) => kind, { wide: true }),
  stateColumn('Decision', ({ outcome }) => outcome),
  {
    title: 'Rule',
    render: ({ rule, pattern }) => (rule === null ? <Dash /> : `${rule}${pattern === null ? '' : `: ${pattern}`}`),
    csv: ({ rule }) => rule,
    wide: true,
  },
  timeColumn('When', ({ at }) => at, { wide: true }),
  moneyColumn('Amount', ({ amount }) => amount),
]

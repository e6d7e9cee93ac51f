import { PlusIcon } from '@radix-ui/react-icons'
import { nameColumn, stateColumn, timeColumn } from '../parts/columns.tsx'
import { LinkButton } from '../parts/Button.tsx'
import { Money } from '../parts/figures.tsx'
import { PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { Approvals } from './agents/Approvals.tsx'
import type { Agent } from './agents/policy.ts'

export default function Agents() {
  const create = (
    <LinkButton to="/agents/new" look="main">
      <PlusIcon /> New agent
    </LinkButton>
  )
  return (
    <>
      <PageHead title="Agents" actions={create}>
        Budgets for programs that spend by themselves: bind a key to one, and its limits hold everywhere.
      </PageHead>
      <div className="space-y-6">
        <Approvals />
        <List
          path="spending.agents"
          rows={({ agents }) => agents}
          name="Agents"
          columns={COLUMNS}
          href={({ id }) => `/agents/${id}`}
          empty={
            <Empty title="No agents yet" action={create}>
              Say how much an agent may spend and on what, then make an API key that is bound to it.
            </Empty>
          }
        />
      </div>
    </>
  )
}

function Limit({ amount }: { amount: number | null }) {
  return amount === null ? <span className="text-quiet">No limit</span> : <Money amount={amount} />
}

const COLUMNS: Column<Agent>[] = [
  nameColumn(
    'Name',
    ({ name }) => name,
    ({ id }) => `/agents/${id}`,
  ),
  stateColumn('State', ({ status }) => status),
  {
    title: 'A call',
    end: true,
    show: ({ limits }) => <Limit amount={limits.perCall} />,
    csv: ({ limits }) => limits.perCall,
    wide: true,
  },
  {
    title: 'A day',
    end: true,
    show: ({ limits }) => <Limit amount={limits.perDay} />,
    csv: ({ limits }) => limits.perDay,
  },
  {
    title: 'A month',
    end: true,
    show: ({ limits }) => <Limit amount={limits.perMonth} />,
    csv: ({ limits }) => limits.perMonth,
    wide: true,
  },
  timeColumn('Changed', ({ updatedAt }) => updatedAt, { end: true, wide: true }),
]

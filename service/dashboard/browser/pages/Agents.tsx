import { PlusIcon } from '@radix-ui/react-icons'
import { nameColumn, stateColumn, timeColumn, type Column } from '../parts/columns.tsx'
import { LinkButton } from '../parts/Button.tsx'
import { Money } from '../parts/values.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { Approvals } from './agents/Approvals.tsx'
import type { Agent, Limit } from './agents/policy.ts'

export default function Agents() {
  const create = (
    <LinkButton to="/agents/new" variant="main">
      <PlusIcon /> Create agent
    </LinkButton>
  )
  return (
    <Page
      title="Agents"
      actions={create}
      intro="Spending limits for programs. Bind an API key to an agent, and its limits apply everywhere."
    >
      <Approvals />
      <List
        path="spending.agents"
        rows={({ agents }) => agents}
        name="Agents"
        columns={COLUMNS}
        href={({ id }) => `/agents/${id}`}
        empty={
          <Empty title="No agents yet" action={create}>
            Create an agent with its limits, then create an API key that is bound to it.
          </Empty>
        }
      />
    </Page>
  )
}

const COLUMNS: Column<Agent>[] = [
  nameColumn('Name', ({ name }) => name, '/agents'),
  stateColumn('State', ({ status }) => status),
  limitColumn('Per call', 'perCall'),
  limitColumn('Per day', 'perDay'),
  limitColumn('Per month', 'perMonth'),
  timeColumn('Changed', ({ updatedAt }) => updatedAt, { end: true, wide: true }),
]

function limitColumn(title: string, limit: Limit): Column<Agent> {
  return {
    title,
    end: true,
    render: ({ limits }) => {
      const amount = limits[limit]
      return amount === null ? <span className="text-quiet">No limit</span> : <Money amount={amount} />
    },
    csv: ({ limits }) => limits[limit],
    wide: limit !== 'perDay',
  }
}

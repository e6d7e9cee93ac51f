import { NETWORK_NAMES } from '../../../ui-kit/networks.ts'
import { PlusIcon } from '@radix-ui/react-icons'
import { LinkButton } from '../parts/Button.tsx'
import type { Output } from '../api/procedures.ts'
import { moneyColumn, nameColumn, type Column, stateColumn, textColumn, timeColumn } from '../parts/columns.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'

type Line = Output<'checkouts.list'>['checkouts'][number]

export default function Checkouts() {
  const create = (
    <LinkButton to="/checkouts/new" variant="main">
      <PlusIcon /> Create checkout
    </LinkButton>
  )
  return (
    <Page title="Checkouts" actions={create} intro="Paid links to your workflows. Each payment runs the workflow once.">
      <List
        path="checkouts.list"
        rows={({ checkouts }) => checkouts}
        name="Checkouts"
        columns={COLUMNS}
        href={({ id }) => `/checkouts/${id}`}
        empty={
          <Empty title="No checkouts yet" action={create}>
            Create one for a webhook of your own. In n8n, add the Pay-to-Run Trigger to a workflow (
            <code className="font-mono">n8n-nodes-coinslot</code>): it creates its checkout when you test or activate
            the workflow.
          </Empty>
        }
      />
    </Page>
  )
}

const COLUMNS: Column<Line>[] = [
  nameColumn('Product', ({ product }) => product.name, '/checkouts'),
  stateColumn('State', ({ status }) => status),
  textColumn('Lifetime', ({ lifetime }) => lifetime, { wide: true }),
  textColumn('Network', ({ network }) => NETWORK_NAMES[network], { wide: true }),
  timeColumn('Created', ({ createdAt }) => createdAt, { wide: true }),
  moneyColumn('Price', ({ price }) => price),
]

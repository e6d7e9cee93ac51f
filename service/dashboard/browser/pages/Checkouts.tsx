import { NETWORK_NAMES } from '../../../ui-kit/networks.ts'
import type { Output } from '../api/procedures.ts'
import { moneyColumn, nameColumn, type Column, stateColumn, textColumn, timeColumn } from '../parts/columns.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'

type Line = Output<'checkouts.list'>['checkouts'][number]

export default function Checkouts() {
  return (
    <Page title="Checkouts" intro="Paid links to your workflows. Each payment runs the workflow once.">
      <List
        path="checkouts.list"
        rows={({ checkouts }) => checkouts}
        name="Checkouts"
        columns={COLUMNS}
        href={({ id }) => `/checkouts/${id}`}
        empty={
          <Empty title="No checkouts yet">
            Add the Pay-to-Run Trigger to a workflow in n8n (<code className="font-mono">n8n-nodes-coinslot</code>): it
            creates its checkout when you test or activate the workflow.
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

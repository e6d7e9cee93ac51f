import { Link } from 'wouter'
import { NETWORK_NAMES } from '../../../ui-kit/networks.ts'
import type { Output } from '../api/ask.ts'
import { Badge } from '../parts/Badge.tsx'
import { moneyColumn, stateColumn, textColumn, timeColumn } from '../parts/columns.tsx'
import { PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'

type Line = Output<'checkouts.list'>['checkouts'][number]

export default function Checkouts() {
  return (
    <>
      <PageHead title="Checkouts">Prices on workflows: who pays starts one.</PageHead>
      <List
        path="checkouts.list"
        rows={({ checkouts }) => checkouts}
        name="Checkouts"
        columns={COLUMNS}
        href={({ id }) => `/checkouts/${id}`}
        empty={
          <Empty title="No checkouts yet">
            Put the Pay-to-Run Trigger into a workflow of n8n (<code className="font-mono">n8n-nodes-coinslot</code>):
            it makes its checkout by itself, as soon as the workflow is tested or activated.
          </Empty>
        }
      />
    </>
  )
}

const COLUMNS: Column<Line>[] = [
  {
    title: 'Product',
    show: ({ id, product, testMode }) => (
      <span className="flex min-w-0 flex-wrap items-center gap-1.5">
        <Link to={`/checkouts/${id}`} className="truncate font-medium hover:underline">
          {product.name}
        </Link>
        {testMode && <Badge tone="warn">test mode</Badge>}
      </span>
    ),
    csv: ({ product }) => product.name,
  },
  stateColumn('State', ({ status }) => status),
  textColumn('Lifetime', ({ lifetime }) => lifetime, { wide: true }),
  {
    title: 'Network',
    show: ({ network }) => NETWORK_NAMES[network],
    csv: ({ network }) => network,
    wide: true,
  },
  timeColumn('Created', ({ createdAt }) => createdAt, { wide: true }),
  moneyColumn('Price', ({ price }) => price),
]

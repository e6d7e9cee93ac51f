import { Link } from 'wouter'
import type { Output } from '../api/ask.ts'
import { Badge, StateBadge } from '../parts/Badge.tsx'
import { Money, When } from '../parts/figures.tsx'
import { Card, PageHead } from '../parts/layout.tsx'
import { List, type Column } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'

type Line = Output<'checkouts.list'>['checkouts'][number]

export default function Checkouts() {
  return (
    <>
      <PageHead title="Checkouts">Prices on workflows: who pays starts one.</PageHead>
      <Card flush>
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
      </Card>
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
  { title: 'State', show: ({ status }) => <StateBadge state={status} />, csv: ({ status }) => status },
  { title: 'Lifetime', show: ({ lifetime }) => lifetime, csv: ({ lifetime }) => lifetime, wide: true },
  {
    title: 'Network',
    show: ({ network }) => (network === 'base' ? 'Base' : 'Base Sepolia'),
    csv: ({ network }) => network,
    wide: true,
  },
  { title: 'Created', show: ({ createdAt }) => <When at={createdAt} />, csv: ({ createdAt }) => createdAt, wide: true },
  { title: 'Price', end: true, show: ({ price }) => <Money amount={price} />, csv: ({ price }) => price },
]

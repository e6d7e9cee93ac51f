import { useState } from 'react'
import { useAction, type Output } from '../../api/procedures.ts'
import { StateBadge } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { idColumn, textColumn, timeColumn, type Column } from '../../parts/columns.tsx'
import { List } from '../../parts/List.tsx'
import { Confirm } from '../../parts/Modal.tsx'
import { Empty } from '../../parts/states.tsx'
import { toast } from '../../shell/toast.ts'

type Pass = Output<'passes.list'>['passes'][number]

/** What was paid for ahead, at a checkout or by a customer. */
export function Passes({ of }: { of: { checkout: string } | { customer: string } }) {
  const [ending, setEnding] = useState<Pass | null>(null)
  const end = useAction('passes.end', {
    changes: ['passes.'],
    done: () => toast({ tone: 'good', text: 'Pass ended. It cannot be used any more.' }),
  })
  const columns: readonly Column<Pass>[] = [
    ...COLUMNS,
    {
      title: 'End',
      render: (pass) =>
        pass.status !== 'ended' && (
          <Button small onClick={() => setEnding(pass)}>
            End pass
          </Button>
        ),
    },
  ]
  return (
    <>
      <List
        path="passes.list"
        filter={of}
        rows={({ passes }) => passes}
        name="Passes"
        titled
        columns={columns}
        empty={
          <Empty title="No passes yet">
            {'customer' in of
              ? 'Plans that this customer pays for are listed here.'
              : 'Customers who pay for a plan are listed here.'}
          </Empty>
        }
      />
      <Confirm
        title="End this pass?"
        act="End pass"
        open={ending !== null}
        close={() => setEnding(null)}
        confirm={() => ending !== null && end.mutate({ id: ending.id })}
      >
        Its customer cannot use it any more. Nothing is refunded: to return money, refund its payment.
      </Confirm>
    </>
  )
}

const COLUMNS: readonly Column<Pass>[] = [
  textColumn('Plan', ({ plan }) => plan.name),
  { title: 'State', render: ({ status }) => <StateBadge state={status} />, csv: ({ status }) => status },
  {
    title: 'Runs left',
    render: ({ runs, runsLeft }) => (runs === null ? 'No limit' : `${String(runsLeft)} of ${String(runs)}`),
    csv: ({ runsLeft }) => runsLeft,
    end: true,
  },
  timeColumn('Until', ({ until }) => until),
  idColumn('Customer', ({ holder }) => holder, { wide: true }),
  timeColumn('Bought', ({ createdAt }) => createdAt, { wide: true }),
]

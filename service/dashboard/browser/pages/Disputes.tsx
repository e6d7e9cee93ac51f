import { useState } from 'react'
import { StateBadge } from '../parts/Badge.tsx'
import { Button } from '../parts/Button.tsx'
import { moneyColumn, timeColumn, type Column } from '../parts/columns.tsx'
import { namesOf, oneOf, Select, useFilter } from '../parts/filters.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Empty } from '../parts/states.tsx'
import { Id } from '../parts/values.tsx'
import { DisputeDialog } from './disputes/DisputeDialog.tsx'
import { reasonText, type Dispute } from './disputes/DisputeDialog.tsx'

export default function Disputes() {
  const { chosen, filterOf, filtered } = useFilter(['state'])
  const [shown, setShown] = useState<Dispute | null>(null)
  const state = oneOf(chosen.state, namesOf(STATES))
  const columns: readonly Column<Dispute>[] = [
    ...COLUMNS,
    {
      title: 'Answer',
      render: (dispute) => (
        <Button small onClick={() => setShown(dispute)}>
          {dispute.state === 'open' ? 'Answer' : 'View'}
        </Button>
      ),
    },
  ]
  return (
    <Page title="Disputes" intro="Problems with payments that buyers reported. Refund them, or say why not.">
      <List
        path="disputes.list"
        filter={state === undefined ? {} : { state }}
        filtered={filtered}
        rows={({ disputes }) => disputes}
        name="Disputes"
        columns={columns}
        controls={<Select label="State" all="All states" options={STATES} {...filterOf('state')} />}
        empty={
          <Empty title="No disputes">
            When a buyer reports a problem with a payment, it is listed here for you to answer.
          </Empty>
        }
      />
      {shown !== null && <DisputeDialog dispute={shown} close={() => setShown(null)} />}
    </Page>
  )
}

const STATES = [
  ['open', 'Open'],
  ['refunding', 'Refunding'],
  ['refunded', 'Refunded'],
  ['declined', 'Declined'],
  ['closed', 'Closed'],
] as const

const COLUMNS: readonly Column<Dispute>[] = [
  { title: 'Payment', render: ({ payment }) => <Id value={payment.id} />, csv: ({ payment }) => payment.id },
  { title: 'State', render: ({ state }) => <StateBadge state={state} />, csv: ({ state }) => state },
  { title: 'Reason', render: ({ reason }) => reasonText(reason), csv: ({ reason }) => reason, wide: true },
  timeColumn('Answer by', ({ answerBy }) => answerBy, { wide: true }),
  timeColumn('Reported', ({ createdAt }) => createdAt, { wide: true }),
  moneyColumn('Amount', ({ amount }) => amount),
]

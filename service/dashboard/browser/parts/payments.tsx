import type { Column } from './List.tsx'
import { Badge, StateBadge } from './Badge.tsx'
import { Id, Money, When } from './figures.tsx'

/** What a seller sees of every payment, wherever it was made; what else there is stands between. */
export function paymentColumns<Payment extends Paid>(
  reasonOf: (payment: Payment) => string | null | undefined,
  between: readonly Column<Payment>[],
): readonly Column<Payment>[] {
  return [
    {
      title: 'Payment',
      show: ({ id, testMode }) => (
        <span className="flex flex-wrap items-center gap-1.5">
          <Id value={id} />
          {testMode && <Badge tone="warn">test</Badge>}
        </span>
      ),
      csv: ({ id }) => id,
    },
    {
      title: 'State',
      show: (payment) => (
        <span title={reasonOf(payment) ?? undefined}>
          <StateBadge state={payment.status} />
        </span>
      ),
      csv: ({ status }) => status,
    },
    ...between,
    { title: 'When', show: ({ createdAt }) => <When at={createdAt} />, csv: ({ createdAt }) => createdAt, wide: true },
    { title: 'Amount', end: true, show: ({ amount }) => <Money amount={amount} />, csv: ({ amount }) => amount },
  ]
}

/** On which network, and to whom: what a seller checks first. */
export function recipientFacts({ network, recipient }: { network: string; recipient: string | null }) {
  return [
    ['Network', network === 'base' ? 'Base' : 'Base Sepolia (test tokens)'],
    ['Paid to', recipient === null ? 'Nobody: payments are simulated' : <Id key="to" value={recipient} whole />],
  ] as const
}

interface Paid {
  id: string
  testMode: boolean
  status: string
  createdAt: string
  amount: number
}

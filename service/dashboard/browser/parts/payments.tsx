import { NETWORK_NAMES } from '../../../ui-kit/networks.ts'
import { Link } from 'wouter'
import { shortly } from '../../../ui-kit/format.ts'
import type { Output } from '../api/procedures.ts'
import { type Column, type FileColumn, moneyColumn, timeColumn } from './columns.tsx'
import { Badge, StateBadge } from './Badge.tsx'
import { RefundPayment } from './Refund.tsx'
import { Dash, Id } from './values.tsx'

/** The columns of a product's payments, on screen and in a file; a list's own columns go in between. */
export function paymentColumns<Payment extends Paid>(
  reasonOf: (payment: Payment) => string | null | undefined,
  between: readonly Column<Payment>[],
): { columns: readonly Column<Payment>[]; file: readonly FileColumn<Payment>[] } {
  const own: readonly Column<Payment>[] = [
    {
      title: 'Payment',
      render: ({ id, testMode }) => (
        <span className="flex flex-wrap items-center gap-1.5">
          <Link to={`/payments/${id}`} className="link font-mono text-[0.8125rem]">
            {shortly(id)}
          </Link>
          {testMode && <Badge tone="warn">test</Badge>}
        </span>
      ),
      csv: ({ id }) => id,
    },
    {
      title: 'State',
      render: (payment) => (
        <span title={reasonOf(payment) ?? undefined}>
          <StateBadge state={payment.status} />
        </span>
      ),
      csv: ({ status }) => status,
    },
    ...between,
    {
      title: 'Receipt',
      render: ({ verifyUrl }) =>
        verifyUrl === null ? (
          <Dash />
        ) : (
          <a href={verifyUrl} target="_blank" rel="noreferrer" className="link">
            Verify
          </a>
        ),
      csv: ({ signedReceipt }) => signedReceipt,
      wide: true,
    },
  ]
  const refund: Column<Payment> = {
    title: 'Refund',
    render: ({ id, status }) => (status === 'paid' ? <RefundPayment id={id} /> : <Dash />),
    wide: true,
  }
  const when = timeColumn<Payment>('When', ({ createdAt }) => createdAt, { wide: true })
  return {
    columns: [...own, refund, when, moneyColumn('Amount', ({ amount }) => amount)],
    file: [...own, when, ...MONEY_FILE, testFile(({ testMode }) => testMode)],
  }
}

/** What a file says of a payment's money. */
export const MONEY_FILE: readonly FileColumn<{
  amount: number
  refunded: number
  currency: string
  network: string
}>[] = [
  { title: 'Amount', csv: ({ amount }) => amount },
  { title: 'Refunded', csv: ({ refunded }) => refunded },
  { title: 'Currency', csv: ({ currency }) => currency },
  { title: 'Network', csv: ({ network }) => network },
]

/** Whether the payment is simulated: without this, a file mixes it with real money. */
export function testFile<Payment>(isTest: (payment: Payment) => boolean): FileColumn<Payment> {
  return { title: 'Test', csv: (payment) => (isTest(payment) ? 'yes' : 'no') }
}

/** The network and the recipient: what a seller checks first. */
export function recipientFacts({ network, recipient }: { network: string; recipient: string | null }) {
  return [
    ['Network', network === 'base' ? NETWORK_NAMES.base : `${NETWORK_NAMES['base-sepolia']} (test tokens)`],
    ['Recipient', recipient === null ? 'None: payments are simulated' : <Id key="to" value={recipient} whole />],
  ] as const
}

type Paid = Pick<
  Output<'checkouts.payments'>['payments'][number],
  'id' | 'testMode' | 'createdAt' | 'amount' | 'refunded' | 'currency' | 'network' | 'signedReceipt' | 'verifyUrl'
> & {
  status: string
}

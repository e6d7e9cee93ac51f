import { useRead, type Output } from '../../api/procedures.ts'
import { StateBadge } from '../../parts/Badge.tsx'
import { TextLink } from '../../parts/Button.tsx'
import { Card } from '../../parts/layout.tsx'
import { Money, When } from '../../parts/values.tsx'

type Request = Output<'checkouts.requests'>[number]

/** What the customer was asked for within the order, beyond its price. */
export function FurtherAmounts({ payment }: { payment: string }) {
  const requests = useRead('checkouts.requests', { id: payment })
  // Most orders have none.
  if (requests.data === undefined || requests.data.length === 0) return null
  return (
    <Card title="Further amounts">
      <ul className="divide-y divide-line">
        {requests.data.map((request) => (
          <FurtherAmount key={request.id} request={request} />
        ))}
      </ul>
    </Card>
  )
}

function FurtherAmount({ request }: { request: Request }) {
  const { status, amount, note, step, paymentId, createdAt, endedAt, expiresAt } = request
  return (
    <li className="space-y-0.5 py-3 first:pt-0 last:pb-0">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">
          <Money amount={amount} />
        </span>
        <StateBadge state={status}>{STATUS[status]}</StateBadge>
        {status === 'paid' && paymentId !== null && <TextLink to={`/payments/${paymentId}`}>View payment</TextLink>}
      </p>
      <p className="break-words">{note}</p>
      <p className="text-[0.8125rem] break-words text-quiet">
        Requested <When at={createdAt} />
        {step === null ? '' : ` by the step “${step}”`}
        {endedAt !== null ? (
          <>
            {' · '}
            {STATUS[status].toLowerCase()} <When at={endedAt} />
          </>
        ) : (
          <>
            {' · '}
            {status === 'expired' ? 'expired' : 'expires'} <When at={expiresAt} />
          </>
        )}
      </p>
    </li>
  )
}

const STATUS = {
  open: 'Requested',
  paying: 'Being paid',
  paid: 'Paid',
  refused: 'Refused',
  expired: 'Expired',
} as const satisfies Record<Request['status'], string>

import { useParams } from 'wouter'
import { inUsdc } from '../../../ui-kit/format.ts'
import { useRead, type Output } from '../api/procedures.ts'
import { NameLink } from '../parts/columns.tsx'
import { Card, Facts, Metric, Metrics, MoneyMetric, Page } from '../parts/layout.tsx'
import { NewestFirst } from '../parts/NewestFirst.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Id, inCounts, Money, When } from '../parts/values.tsx'
import { Passes } from './checkouts/Passes.tsx'
import { PAYMENT_COLUMNS, PAYMENT_FILE } from './Payments.tsx'
import { boughtName, customerName, NO_WALLET, PaymentState, sentFromFact } from './payments/words.tsx'

type Customer = Output<'payments.customer'>

export default function CustomerRoute() {
  const { id: part } = useParams<{ id: string }>()
  const id = decoded(window.location.pathname.split('/').at(-1) ?? part)
  const customer = useRead('payments.customer', { id })
  return <Loaded of={customer}>{(data) => <CustomerPage customer={data} />}</Loaded>
}

/** From the address itself: the router decodes a part of the signs that an e-mail address may have, and not all. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** One customer: what they paid, what went back, and each of their payments. */
function CustomerPage({ customer }: { customer: Customer }) {
  const { id, payments, paid, refunded, firstAt, lastAt } = customer
  return (
    <Page title={customerName(customer)} back={{ to: '/customers', name: 'Customers' }}>
      <Metrics>
        <Metric name="Payments">{inCounts(payments)}</Metric>
        <MoneyMetric name="Paid" amount={paid} />
        <MoneyMetric name="Refunded" amount={refunded} />
        <Metric name="First payment">
          <When at={firstAt} />
        </Metric>
        <Metric name="Last payment">
          <When at={lastAt} />
        </Metric>
      </Metrics>
      <Card title="Customer">
        <Facts facts={factsOf(customer)} />
      </Card>
      <Refunds customer={id} />
      <Balances customer={id} />
      <Passes of={{ customer: id }} />
      <NewestFirst
        path="payments.list"
        filter={{ customer: id }}
        filtered={false}
        rows={({ payments: rows, next }) => ({ rows, next })}
        name="Payments"
        columns={PAYMENT_COLUMNS}
        file={PAYMENT_FILE}
        href={(payment) => `/payments/${payment.id}`}
        controls={<h2 className="font-semibold">Payments</h2>}
        empty={<Empty title="No payments">The customer’s payments appear here.</Empty>}
      />
    </Page>
  )
}

/** What went back of their payments; nothing where nothing did. */
function Refunds({ customer }: { customer: string }) {
  const { data } = useRead('payments.list', { customer, refunded: 'true', limit: 10 })
  if (data === undefined || data.payments.length === 0) return null
  return (
    <Card title="Refunds" flush>
      <ul className="divide-y divide-line">
        {data.payments.map((payment) => (
          <li key={payment.id} className="flex items-center gap-3 px-4 py-2.5">
            <span className="flex min-w-0 flex-1 items-center gap-2">
              <NameLink to={`/payments/${payment.id}`}>{boughtName(payment)}</NameLink>
              <PaymentState payment={payment} />
            </span>
            <span className="text-right">
              <Money amount={payment.refunded} /> <span className="text-quiet">of {inUsdc(payment.amount)}</span>
            </span>
          </li>
        ))}
      </ul>
      {data.next !== null && (
        <p className="border-t border-line px-4 py-2.5 text-quiet">Older refunds are on their payments.</p>
      )}
    </Card>
  )
}

/** What they have paid ahead at paywalls with prepaid prices; nothing where they have not. */
function Balances({ customer }: { customer: string }) {
  const { data } = useRead('paywalls.balances', { customer })
  if (data === undefined || data.balances.length === 0) return null
  return (
    <Card title="Prepaid at paywalls" flush>
      <ul className="divide-y divide-line">
        {data.balances.map(({ paywallId, name, network, payer, available, held, paid, used }) => (
          <li key={`${paywallId} ${network} ${payer}`} className="flex items-center gap-3 px-4 py-2.5">
            <span className="min-w-0 flex-1">
              <NameLink to={`/paywalls/${paywallId}`}>{name}</NameLink>
              <span className="block text-[0.8125rem] text-quiet">
                {inUsdc(used)} of {inUsdc(paid)} USDC used
                {held > 0 && `, ${inUsdc(held)} USDC held for calls under way`}
              </span>
            </span>
            <span className="text-right">
              <Money amount={available} /> <span className="text-quiet">left</span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function factsOf({ email, payer, byTransfer, sentFrom }: Customer) {
  return [
    email === null
      ? null
      : ([
          'E-mail',
          <a key="mail" href={`mailto:${email}`} className="link break-all">
            {email}
          </a>,
        ] as const),
    payer === NO_WALLET
      ? (['Wallet', 'None: test payments, or nothing to pay'] as const)
      : ([byTransfer ? 'Last paid by transfer to' : 'Last paid from', <Id key="payer" value={payer} whole />] as const),
    sentFromFact({ byTransfer, sentFrom }),
  ] as const
}

import { serviceNow } from '../settings.ts'
import type { Output } from '../api/procedures.ts'
import { LinkButton } from '../parts/Button.tsx'
import { moneyColumn, nameColumn, textColumn, timeColumn, type Column, type FileColumn } from '../parts/columns.tsx'
import { Day, namesOf, oneOf, Search, Select, useFilter } from '../parts/filters.tsx'
import { Page } from '../parts/layout.tsx'
import { NewestFirst } from '../parts/NewestFirst.tsx'
import { MONEY_FILE, testFile } from '../parts/payments.tsx'
import { SavedViews } from '../parts/SavedViews.tsx'
import { Empty } from '../parts/states.tsx'
import { PERIODS, spanOf } from './payments/period.ts'
import { boughtName, CustomerName, PaymentState, PRODUCTS, productWord, STATES } from './payments/words.tsx'

type Line = Output<'payments.list'>['payments'][number]

/** Everything that was sold, in one list. The filters are in the address, so a filtered view is a link. */
export default function Payments() {
  const { chosen, filterOf, filtered } = useFilter(
    ['product', 'state', 'customer', 'period', 'first', 'last'],
    'before',
  )
  const product = oneOf(chosen.product, namesOf(PRODUCTS))
  const state = oneOf(chosen.state, namesOf(STATES))
  const period = oneOf(chosen.period, namesOf(PERIODS))
  const customer = chosen.customer?.trim()
  const isCustomerWhole = customer !== undefined && CUSTOMER.test(customer)
  return (
    <Page title="Payments" intro="Everything that your customers paid for: checkouts, paywalls and assets.">
      <NewestFirst
        path="payments.list"
        filter={{
          ...(product === undefined ? {} : { product }),
          ...(state === undefined ? {} : { state }),
          ...(isCustomerWhole ? { customer } : {}),
          ...spanOf(period, serviceNow(), { first: chosen.first, last: chosen.last }),
        }}
        filtered={filtered}
        rows={({ payments, next }) => ({ rows: payments, next })}
        name="Payments"
        columns={PAYMENT_COLUMNS}
        file={PAYMENT_FILE}
        href={({ id }) => `/payments/${id}`}
        controls={
          <>
            <Select label="Product" all="All products" options={PRODUCTS} {...filterOf('product')} />
            <Select label="State" all="All states" options={STATES} {...filterOf('state')} />
            <Select label="Period" all="Any time" options={PERIODS} {...filterOf('period')} />
            {period === 'days' && (
              <>
                <Day label="First day" {...filterOf('first')} />
                <Day label="Last day" {...filterOf('last')} />
              </>
            )}
            <Search label="E-mail or 0x address" {...filterOf('customer')} />
            {customer !== undefined && !isCustomerWhole && (
              <span role="status" className="text-[0.8125rem] text-warn">
                Enter the whole e-mail address, or the whole address that paid.
              </span>
            )}
            <SavedViews />
          </>
        }
        empty={
          <Empty title="No payments yet" action={<LinkButton to="/checkouts/new">Create a checkout</LinkButton>}>
            A line appears here for each payment, like “SEO audit, 5.00 USDC, paid 2 minutes ago by ada@example.com”.
            Share a checkout’s link, or make a test payment on its page.
          </Empty>
        }
      />
    </Page>
  )
}

/** The service looks a customer up by the whole address only. */
const CUSTOMER = /^(?:0x[0-9a-fA-F]{40}|[^\s@]+@[^\s@]+\.[^\s@]{2,})$/

export const PAYMENT_COLUMNS: readonly Column<Line>[] = [
  nameColumn<Line>('Bought', boughtName, '/payments'),
  { title: 'State', render: (payment) => <PaymentState payment={payment} /> },
  {
    title: 'Customer',
    render: (payment) => <CustomerName of={payment} />,
    wide: true,
  },
  textColumn('Product', ({ product }) => productWord(product), { wide: true }),
  timeColumn('When', ({ createdAt }) => createdAt, { wide: true }),
  moneyColumn('Amount', ({ amount }) => amount),
]

/** For bookkeeping, so it has more than the screen. */
export const PAYMENT_FILE: readonly FileColumn<Line>[] = [
  { title: 'Payment', csv: ({ id }) => id },
  { title: 'Created', csv: ({ createdAt }) => createdAt },
  { title: 'Paid', csv: ({ paidAt }) => paidAt },
  { title: 'State', csv: ({ state }) => state },
  { title: 'Product', csv: ({ product }) => productWord(product) },
  { title: 'Bought', csv: boughtName },
  ...MONEY_FILE,
  { title: 'Payer', csv: ({ payer }) => payer },
  { title: 'By transfer', csv: ({ byTransfer }) => (byTransfer ? 'yes' : 'no') },
  { title: 'Sent from', csv: ({ sentFrom }) => sentFrom.join(' ') },
  { title: 'E-mail', csv: ({ email }) => email },
  { title: 'Transaction', csv: ({ txHash }) => txHash },
  testFile(({ test }) => test),
]

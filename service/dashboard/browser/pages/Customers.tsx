import type { Output } from '../api/procedures.ts'
import { LinkButton } from '../parts/Button.tsx'
import { countColumn, moneyColumn, NameLink, timeColumn, type Column } from '../parts/columns.tsx'
import { Page } from '../parts/layout.tsx'
import { NewestFirst } from '../parts/NewestFirst.tsx'
import { SavedViews } from '../parts/SavedViews.tsx'
import { Empty } from '../parts/states.tsx'
import { namesOf, oneOf, Search, Select, useFilter } from '../parts/filters.tsx'
import { customerName } from './payments/words.tsx'

type Customer = Output<'payments.customers'>['customers'][number]

/** Who paid, how often and how much: by e-mail address, or by wallet where the customer entered none. */
export default function Customers() {
  const { chosen, filterOf } = useFilter(['search', 'order'], 'before')
  const order = oneOf(chosen.order, namesOf(ORDERS))
  const { search } = chosen
  return (
    <Page title="Customers" intro="By e-mail address, or by wallet where none was entered.">
      <NewestFirst
        path="payments.customers"
        filter={{ ...(search === undefined ? {} : { search }), ...(order === undefined ? {} : { order }) }}
        filtered={search !== undefined}
        rows={({ customers, next }) => ({ rows: customers, next })}
        name="Customers"
        columns={COLUMNS}
        file={FILE}
        href={({ id }) => pageOf(id)}
        controls={
          <>
            <Search label="Begins with" {...filterOf('search')} />
            <Select label="Order" all="Last payment first" options={ORDERS} {...filterOf('order')} />
            <SavedViews />
          </>
        }
        empty={
          <Empty title="No customers yet" action={<LinkButton to="/checkouts/new">Create a checkout</LinkButton>}>
            A line appears here for each customer, like “ada@example.com, 3 payments, 15.00 USDC”. Share a checkout’s
            link to get the first one.
          </Empty>
        }
      />
    </Page>
  )
}

const ORDERS = [
  ['paid', 'Most paid first'],
  ['payments', 'Most payments first'],
] as const

function pageOf(customer: string): string {
  return `/customers/${encodeURIComponent(customer)}`
}

const COLUMNS: readonly Column<Customer>[] = [
  {
    title: 'Customer',
    render: ({ id, ...customer }) => <NameLink to={pageOf(id)}>{customerName(customer)}</NameLink>,
  },
  countColumn('Payments', ({ payments }) => payments, { end: true }),
  timeColumn('Last payment', ({ lastAt }) => lastAt, { wide: true }),
  moneyColumn('Refunded', ({ refunded }) => refunded, { end: true, wide: true }),
  moneyColumn('Paid', ({ paid }) => paid),
]

const FILE: readonly Pick<Column<Customer>, 'title' | 'csv'>[] = [
  { title: 'E-mail', csv: ({ email }) => email },
  { title: 'Payer', csv: ({ payer }) => payer },
  { title: 'By transfer', csv: ({ byTransfer }) => (byTransfer ? 'yes' : 'no') },
  { title: 'Sent from', csv: ({ sentFrom }) => sentFrom.join(' ') },
  { title: 'Payments', csv: ({ payments }) => payments },
  { title: 'Paid', csv: ({ paid }) => paid },
  { title: 'Refunded', csv: ({ refunded }) => refunded },
  { title: 'First payment', csv: ({ firstAt }) => firstAt },
  { title: 'Last payment', csv: ({ lastAt }) => lastAt },
]

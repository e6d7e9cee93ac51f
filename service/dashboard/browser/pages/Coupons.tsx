import { PlusIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { useAction } from '../api/procedures.ts'
import { Badge } from '../parts/Badge.tsx'
import { Button } from '../parts/Button.tsx'
import { timeColumn, type Column } from '../parts/columns.tsx'
import { Select, useFilter } from '../parts/filters.tsx'
import { Page } from '../parts/layout.tsx'
import { List } from '../parts/List.tsx'
import { Confirm } from '../parts/Modal.tsx'
import { Empty } from '../parts/states.tsx'
import { inCounts } from '../parts/values.tsx'
import { serviceNow } from '../settings.ts'
import { toast } from '../shell/toast.ts'
import { discountText, EditCoupon, NewCoupon, type Coupon } from './coupons/CouponDialogs.tsx'

/** The codes that make purchases at the account's checkouts cheaper. */
export default function Coupons() {
  const [params, setParams] = useSearchParams()
  const { chosen, filterOf, filtered } = useFilter(['archived'])
  const [edited, setEdited] = useState<Coupon | null>(null)
  const [archiving, setArchiving] = useState<Coupon | null>(null)
  const archive = useAction('coupons.archive', {
    changes: ['coupons.'],
    done: () => toast({ tone: 'good', text: 'Coupon archived. It gives no discount any more.' }),
  })
  const create = (
    <Button variant="main" onClick={() => setParams({ new: '1' })}>
      <PlusIcon /> Create coupon
    </Button>
  )
  return (
    <Page title="Coupons" actions={create} intro="Discount codes, for checkouts where buyers may use your coupons.">
      <List
        path="coupons.list"
        filter={chosen.archived === 'yes' ? { archived: true } : {}}
        filtered={filtered}
        rows={({ coupons }) => coupons}
        name="Coupons"
        columns={[...COLUMNS, actsColumn(setEdited, setArchiving)]}
        controls={<Select label="Archived" all="In use" options={[['yes', 'Archived']]} {...filterOf('archived')} />}
        empty={
          <Empty title="No coupons yet" action={create}>
            Give buyers a code for a percentage or an amount off. Switch “Buyers may use your coupons” on at a checkout.
          </Empty>
        }
      />
      {params.get('new') !== null && <NewCoupon close={() => setParams({})} />}
      {edited !== null && <EditCoupon coupon={edited} close={() => setEdited(null)} />}
      <Confirm
        title={`Archive “${archiving?.code ?? ''}”?`}
        act="Archive coupon"
        open={archiving !== null}
        close={() => setArchiving(null)}
        confirm={() => {
          if (archiving !== null) archive.mutate({ id: archiving.id })
        }}
      >
        Buyers who have a checkout open with it pay the full price. This cannot be undone; you can create a new coupon
        with the same code.
      </Confirm>
    </Page>
  )
}

const COLUMNS: readonly Column<Coupon>[] = [
  {
    title: 'Code',
    render: (coupon) => (
      <span className="flex flex-wrap items-center gap-1.5">
        <code className="font-mono text-[0.8125rem] break-all">{coupon.code}</code>
        {stateOf(coupon) !== null && <Badge tone="warn">{stateOf(coupon)}</Badge>}
      </span>
    ),
    csv: ({ code }) => code,
  },
  { title: 'Discount', render: discountText, csv: discountText },
  {
    title: 'Uses',
    render: ({ used, max }) => (
      <span className="tabular-nums">
        {inCounts(used)}
        {max !== null && ` of ${inCounts(max)}`}
      </span>
    ),
    csv: ({ used }) => used,
    end: true,
  },
  {
    title: 'Each customer',
    render: ({ perCustomer }) => (perCustomer === null ? 'Any number' : inCounts(perCustomer)),
    csv: ({ perCustomer }) => perCustomer,
    wide: true,
  },
  timeColumn('Until', ({ until }) => until, { wide: true }),
]

/** Why it takes nothing off any more. */
function stateOf({ archivedAt, until, used, max }: Coupon): string | null {
  if (archivedAt !== null) return 'archived'
  if (until !== null && Date.parse(until) <= serviceNow()) return 'ended'
  return max !== null && used >= max ? 'used up' : null
}

function actsColumn(edit: (coupon: Coupon) => void, archive: (coupon: Coupon) => void): Column<Coupon> {
  return {
    title: '',
    end: true,
    render: (coupon) =>
      coupon.archivedAt === null && (
        <span className="flex justify-end gap-1.5">
          <Button small aria-label={`Edit ${coupon.code}`} onClick={() => edit(coupon)}>
            Edit
          </Button>
          <Button variant="danger" small aria-label={`Archive ${coupon.code}`} onClick={() => archive(coupon)}>
            Archive
          </Button>
        </span>
      ),
  }
}

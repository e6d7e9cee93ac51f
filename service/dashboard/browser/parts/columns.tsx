import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { StateBadge } from './Badge.tsx'
import type { Cell } from './csv.ts'
import { Dash, Duration, Id, Money, When } from './figures.tsx'
import type { Column } from './List.tsx'

type Place = Pick<Column<unknown>, 'end' | 'wide'>

/* Columns of one value, which a list shows as it is shown everywhere and a table of figures gets as it is. */
export const textColumn = columnBy<string | number | null>((text) => text ?? <Dash />)
export const idColumn = columnBy<string>((id) => <Id value={id} />)
export const stateColumn = columnBy<string>((state) => <StateBadge state={state} />)
export const timeColumn = columnBy<string | null>((at) => <When at={at} />)
export const moneyColumn = columnBy<number>((amount) => <Money amount={amount} />, { end: true })
export const durationColumn = columnBy<number | null>((ms) => <Duration ms={ms} />, { end: true, wide: true })

/** The name of a row, which leads to its page. */
export function nameColumn<Row>(title: string, of: (row: Row) => string, to: (row: Row) => string): Column<Row> {
  return { title, show: (row) => <NameLink to={to(row)}>{of(row)}</NameLink>, csv: of }
}

/** In the place of a name that is too long its end is cut. */
export function NameLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link to={to} className="block truncate font-medium hover:underline">
      {children}
    </Link>
  )
}

function columnBy<Value extends Cell>(show: (value: Value) => ReactNode, usual: Place = {}) {
  return <Row,>(title: string, of: (row: Row) => Value, place: Place = usual): Column<Row> => ({
    title,
    show: (row) => show(of(row)),
    csv: of,
    ...place,
  })
}

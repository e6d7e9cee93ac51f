import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Badge, StateBadge } from './Badge.tsx'
import { Dash, Duration, Id, inCounts, Money, When } from './values.tsx'

export interface Column<Row> {
  title: string
  render: (row: Row) => ReactNode
  /** The value in the CSV file; a column without it appears only on screen. */
  csv?: (row: Row) => Cell
  end?: boolean
  /** Shown only on a wide screen. */
  wide?: boolean
}

/** A column of a file, which may have more than the screen. */
export type FileColumn<Row> = Pick<Column<Row>, 'title' | 'csv'>

export type Cell = string | number | null | undefined
type Layout = Pick<Column<unknown>, 'end' | 'wide'>

/* Columns of one value: the list formats it, the CSV file has the raw value. */
export const textColumn = columnOf<string | number | null>((text) => (
  <span className="block truncate">{text ?? <Dash />}</span>
))
export const idColumn = columnOf<string>((id) => <Id value={id} />)
export const stateColumn = columnOf<string>((state) => <StateBadge state={state} />)
export const badgeColumn = columnOf<string>((text) => <Badge>{text}</Badge>, { wide: true })
export const timeColumn = columnOf<string | null>((at) => <When at={at} />)
export const moneyColumn = columnOf<number>((amount) => <Money amount={amount} />, { end: true })
export const countColumn = columnOf<number>((count) => <span className="tabular-nums">{inCounts(count)}</span>, {
  end: true,
  wide: true,
})
export const durationColumn = columnOf<number | null>((ms) => <Duration ms={ms} />, { end: true, wide: true })

/** The name of a row, with a link to the row's page at `${base}/${id}`. */
export function nameColumn<Row extends { id: string; testMode?: boolean }>(
  title: string,
  nameOf: (row: Row) => string,
  base: string,
): Column<Row> {
  return {
    title,
    render: (row) => (
      <span className="flex min-w-0 flex-wrap items-center gap-1.5">
        <NameLink to={`${base}/${row.id}`}>{nameOf(row)}</NameLink>
        {row.testMode === true && <Badge tone="warn">test mode</Badge>}
      </span>
    ),
    csv: nameOf,
  }
}

/** Truncates a name that is too long for its place. */
export function NameLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link to={to} className="block max-w-full truncate font-medium hover:underline">
      {children}
    </Link>
  )
}

function columnOf<Value extends Cell>(render: (value: Value) => ReactNode, usual: Layout = {}) {
  return <Row,>(title: string, valueOf: (row: Row) => Value, layout: Layout = usual): Column<Row> => ({
    title,
    render: (row) => render(valueOf(row)),
    csv: valueOf,
    ...layout,
  })
}

/** Saves a table as a CSV file by RFC 4180, with the byte order mark that makes Excel read it as Unicode. */
export function saveCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  const text = `\uFEFF${rows.map((row) => row.map(toCell).join(',')).join('\r\n')}\r\n`
  const file = `coinslot-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.csv`
  saveFile(file, new Blob([text], { type: 'text/csv;charset=utf-8' }))
}

export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // By then the browser has read the file.
  setTimeout(() => URL.revokeObjectURL(address), 1_000)
}

function toCell(value: Cell): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  // Text from other people must not become a formula in a spreadsheet.
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

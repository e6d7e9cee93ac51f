import { ChevronLeftIcon, ChevronRightIcon } from '@radix-ui/react-icons'
import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { environment } from '../settings.ts'
import { read, useRead, type Input, type Output, type QueryPath } from '../api/procedures.ts'
import { IconButton } from './Button.tsx'
import type { Column, FileColumn } from './columns.tsx'
import { Export } from './Export.tsx'
import { inCounts } from './values.tsx'
import { Card } from './layout.tsx'
import { allRows } from './rows.ts'
import { Empty, Failure } from './states.tsx'
import { Table } from './Table.tsx'

/** A list from the service, page by page. The page number is in the address, and the whole list can be exported. */
export function List<P extends QueryPath, Row extends { id: string }>(props: {
  path: P
  filter?: Omit<Exclude<Input<P>, void>, 'limit' | 'offset'>
  /** Whether a filter is set: an empty result then means that nothing matches. */
  filtered?: boolean
  rows: (found: Output<P>) => readonly Row[]
  /** The name of the table and of the exported file. */
  name: string
  /** Shows the name, on a page that has more than this list. */
  titled?: boolean
  columns: readonly Column<Row>[]
  /** Those of the table where absent. */
  file?: readonly FileColumn<Row>[]
  /** For lists that are browsed: a card for each row in place of the table. */
  card?: (row: Row) => ReactNode
  href?: (row: Row) => string
  /** What tells a row from the others; its id where absent. */
  keyOf?: (row: Row) => string
  empty: ReactNode
  pageKey?: string
  controls?: ReactNode
}) {
  const { path, filter, rows: rowsOf, name, columns, pageKey = 'page' } = props
  const [params, setParams] = useSearchParams()
  const size = props.card === undefined ? PAGE : CARDS
  const page = Math.max(1, Math.trunc(Number(params.get(pageKey) ?? '1')) || 1)
  const input = (limit: number, offset: number) => ({ ...filter, limit, offset }) as Input<P>
  const found = useRead(path, input(size, (page - 1) * size))
  const total = totalOf(found.data)
  const turn = (to: number): void =>
    setParams((before) => {
      if (to === 1) before.delete(pageKey)
      else before.set(pageKey, String(to))
      return before
    })
  const rows = found.data === undefined ? [] : rowsOf(found.data)
  return (
    <Card flush>
      <div className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2">
        <div className="flex flex-wrap items-center gap-2">
          {props.titled === true && <h2 className="font-semibold">{name}</h2>}
          {props.controls}
        </div>
        <div className="ml-auto flex items-center gap-1">
          <span className="text-quiet tabular-nums">{found.data === undefined ? '' : counted(total)}</span>
          <Export
            name={name}
            columns={props.file ?? columns}
            disabled={total === 0}
            load={() => {
              const at = environment()
              const load = (from: number) =>
                read(path, input(100, from), at).then((part) => [rowsOf(part), totalOf(part)] as const)
              return allRows(load, props.keyOf ?? (({ id }) => id))
            }}
          />
        </div>
      </div>
      {found.error !== null && found.data === undefined ? (
        <Failure fault={found.error} again={() => void found.refetch()} />
      ) : found.data !== undefined && total === 0 ? (
        props.filtered === true ? (
          <Empty title="Nothing matches">Change or clear the filters to see more.</Empty>
        ) : (
          props.empty
        )
      ) : props.card !== undefined && found.data !== undefined ? (
        <ul
          aria-label={name}
          aria-busy={found.isPlaceholderData}
          className={`grid gap-4 p-4 sm:grid-cols-2 lg:grid-cols-3 ${found.isPlaceholderData ? 'opacity-60' : ''}`}
        >
          {rows.map((row) => (
            <li key={row.id} className="min-w-0">
              {props.card?.(row)}
            </li>
          ))}
        </ul>
      ) : (
        <Table
          name={name}
          columns={columns}
          rows={rows}
          href={props.href}
          waiting={found.data === undefined}
          stale={found.isPlaceholderData}
        />
      )}
      {total > size && <Pages {...{ name, page, size, total, turn }} />}
    </Card>
  )
}

interface PagesProps {
  name: string
  page: number
  size: number
  total: number
  turn: (to: number) => void
}

function Pages({ name, page, size, total, turn }: PagesProps) {
  return (
    <nav aria-label={`Pages of ${name}`} className="flex items-center justify-end gap-1 border-t border-line px-4 py-2">
      <span className="mr-2 text-quiet tabular-nums">
        {inCounts((page - 1) * size + 1)}–{inCounts(Math.min(page * size, total))} of {inCounts(total)}
      </span>
      <IconButton label="Previous page" disabled={page === 1} onClick={() => turn(page - 1)}>
        <ChevronLeftIcon />
      </IconButton>
      <IconButton label="Next page" disabled={page * size >= total} onClick={() => turn(page + 1)}>
        <ChevronRightIcon />
      </IconButton>
    </nav>
  )
}

const PAGE = 20
/** Fills rows of two and of three. The open pages of the marketplace have as many. */
const CARDS = 24

function totalOf(found: unknown): number {
  return (found as { total?: number } | undefined)?.total ?? 0
}

function counted(total: number): string {
  return total === 0 ? '' : `${inCounts(total)} in total`
}

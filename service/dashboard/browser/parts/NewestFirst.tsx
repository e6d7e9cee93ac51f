import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { read, useRead, type Input, type Output, type QueryPath } from '../api/procedures.ts'
import { environment } from '../settings.ts'
import { Button } from './Button.tsx'
import type { Column, FileColumn } from './columns.tsx'
import { Export } from './Export.tsx'
import { Card } from './layout.tsx'
import { Empty, Failure } from './states.tsx'
import { Table } from './Table.tsx'

/**
 * A list from the service that may be very long, so it is not counted, and each page begins where the one before ended. Where
 * the page begins is in the address.
 */
export function NewestFirst<P extends QueryPath, Row extends { id: string }>(props: {
  path: P
  filter: Omit<Exclude<Input<P>, void>, 'limit' | 'before'>
  filtered: boolean
  rows: (found: Output<P>) => { rows: readonly Row[]; next: string | null }
  name: string
  columns: readonly Column<Row>[]
  /** The columns of the exported file. */
  file: readonly FileColumn<Row>[]
  href: (row: Row) => string
  empty: ReactNode
  controls: ReactNode
}) {
  const { path, filter, rows: rowsOf, name, columns } = props
  const [params, setParams] = useSearchParams()
  const before = params.get('before')
  const input = (limit: number, from: string | null) =>
    ({ ...filter, limit, ...(from === null ? {} : { before: from }) }) as Input<P>
  const found = useRead(path, input(PAGE, before))
  const page = found.data === undefined ? null : rowsOf(found.data)
  const isEmpty = page?.rows.length === 0
  const turn = (to: string | null): void =>
    setParams((now) => {
      if (to === null) now.delete('before')
      else now.set('before', to)
      return now
    })
  return (
    <Card flush>
      <div className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2">
        <div className="flex flex-wrap items-center gap-2">{props.controls}</div>
        <div className="ml-auto">
          <Export
            name={name}
            columns={props.file}
            disabled={page === null || isEmpty}
            load={() => {
              const at = environment()
              return allOf((from) => read(path, input(FILE_PAGE, from), at).then(rowsOf))
            }}
          />
        </div>
      </div>
      {found.error !== null && page === null ? (
        <Failure fault={found.error} again={() => void found.refetch()} />
      ) : isEmpty && before === null ? (
        props.filtered ? (
          <Empty title="Nothing matches">Change or clear the filters to see more.</Empty>
        ) : (
          props.empty
        )
      ) : (
        <Table
          name={name}
          columns={columns}
          rows={page?.rows ?? []}
          href={props.href}
          waiting={page === null}
          stale={found.isPlaceholderData}
        />
      )}
      {page !== null && (before !== null || page.next !== null) && (
        <nav aria-label={`Pages of ${name}`} className="flex justify-end gap-2 border-t border-line px-4 py-2">
          <Button small disabled={before === null} onClick={() => turn(null)}>
            Newest
          </Button>
          <Button small disabled={page.next === null} onClick={() => turn(page.next)}>
            Older
          </Button>
        </nav>
      )}
    </Card>
  )
}

const PAGE = 20
const FILE_PAGE = 500
const FILE_ROWS_MAX = 20_000

async function allOf<Row>(
  load: (before: string | null) => Promise<{ rows: readonly Row[]; next: string | null }>,
): Promise<{ rows: readonly Row[]; isWhole: boolean }> {
  const all: Row[] = []
  let before: string | null = null
  do {
    const { rows, next } = await load(before)
    all.push(...rows)
    before = next
  } while (before !== null && all.length < FILE_ROWS_MAX)
  return { rows: all, isWhole: before === null }
}

import { ChevronLeftIcon, ChevronRightIcon, DownloadIcon } from '@radix-ui/react-icons'
import { type ReactNode, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { read, useRead, type Input, type Output, type QueryPath } from '../api/procedures.ts'
import { toFault } from '../api/fault.ts'
import { toast } from '../shell/Toasts.tsx'
import { Button, IconButton } from './Button.tsx'
import { saveCsv, type Column } from './columns.tsx'
import { inCounts } from './values.tsx'
import { Card } from './layout.tsx'
import { Empty, Failure, Skeleton } from './states.tsx'

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
  href?: (row: Row) => string
  empty: ReactNode
  pageKey?: string
  controls?: ReactNode
}) {
  const { path, filter, rows: rowsOf, name, columns, pageKey = 'page' } = props
  const [params, setParams] = useSearchParams()
  const page = Math.max(1, Math.trunc(Number(params.get(pageKey) ?? '1')) || 1)
  const input = (limit: number, offset: number) => ({ ...filter, limit, offset }) as Input<P>
  const found = useRead(path, input(PAGE, (page - 1) * PAGE))
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
            columns={columns}
            disabled={total === 0}
            load={(at) => read(path, input(100, at)).then((part) => ({ rows: rowsOf(part), total: totalOf(part) }))}
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
      {total > PAGE && (
        <nav
          aria-label={`Pages of ${name}`}
          className="flex items-center justify-end gap-1 border-t border-line px-4 py-2"
        >
          <span className="mr-2 text-quiet tabular-nums">
            {inCounts((page - 1) * PAGE + 1)}–{inCounts(Math.min(page * PAGE, total))} of {inCounts(total)}
          </span>
          <IconButton label="Previous page" disabled={page === 1} onClick={() => turn(page - 1)}>
            <ChevronLeftIcon />
          </IconButton>
          <IconButton label="Next page" disabled={page * PAGE >= total} onClick={() => turn(page + 1)}>
            <ChevronRightIcon />
          </IconButton>
        </nav>
      )}
    </Card>
  )
}

const PAGE = 20

function totalOf(found: unknown): number {
  return (found as { total?: number } | undefined)?.total ?? 0
}

function counted(total: number): string {
  return total === 0 ? '' : `${inCounts(total)} in total`
}

function Table<Row extends { id: string }>({
  name,
  columns,
  rows,
  href,
  waiting,
  stale,
}: {
  name: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  href: ((row: Row) => string) | undefined
  waiting: boolean
  stale: boolean
}) {
  const [, go] = useLocation()
  return (
    <div className="overflow-x-auto" tabIndex={-1}>
      <table aria-busy={waiting || stale} className={`w-full text-left ${stale ? 'opacity-60' : ''}`}>
        <caption className="sr-only">{name}</caption>
        <thead className="text-xs text-quiet">
          <tr className="border-b border-line">
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                className={`px-2 py-2 font-medium whitespace-nowrap first:pl-4 last:pr-4 ${placeOf(column)}`}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {waiting
            ? Array.from({ length: 6 }, (_, at) => (
                <tr key={at} className="border-b border-line last:border-0">
                  {columns.map((column) => (
                    <td key={column.title} className={`px-2 py-3 first:pl-4 last:pr-4 ${placeOf(column)}`}>
                      <Skeleton className="h-4 w-full max-w-32" />
                    </td>
                  ))}
                </tr>
              ))
            : rows.map((row) => (
                <tr
                  key={row.id}
                  className={`border-b border-line last:border-0 ${href === undefined ? '' : 'cursor-pointer hover:bg-side'}`}
                  // Keyboard users follow the link in the row; the row around it is only a larger click target.
                  onClick={(event) => {
                    const inner = (event.target as HTMLElement).closest('a, button, input')
                    if (href !== undefined && inner === null && !hasSelection()) go(href(row))
                  }}
                >
                  {columns.map((column) => (
                    <td
                      key={column.title}
                      className={`max-w-72 px-2 py-2 align-middle first:pl-4 last:pr-4 max-md:first:w-full max-md:first:max-w-0 ${placeOf(column)}`}
                    >
                      {column.render(row)}
                    </td>
                  ))}
                </tr>
              ))}
        </tbody>
      </table>
    </div>
  )
}

function placeOf({ end = false, wide = false }: { end?: boolean; wide?: boolean }): string {
  return `${end ? 'text-right' : ''} ${wide ? 'max-md:hidden' : ''}`
}

/** Selecting text in a row, to copy an ID, must not open the row's page. */
function hasSelection(): boolean {
  return (getSelection()?.toString() ?? '') !== ''
}

function Export<Row>({
  name,
  columns,
  disabled,
  load,
}: {
  name: string
  columns: readonly Column<Row>[]
  disabled: boolean
  load: (offset: number) => Promise<{ rows: readonly Row[]; total: number }>
}) {
  const [busy, setBusy] = useState(false)
  const save = async (): Promise<void> => {
    setBusy(true)
    try {
      const all: Row[] = []
      for (let total = 1; all.length < total;) {
        const part = await load(all.length)
        if (part.rows.length === 0) break
        all.push(...part.rows)
        total = part.total
      }
      const taken = columns.flatMap(({ title, csv }) => (csv === undefined ? [] : [{ title, csv }]))
      saveCsv(name, [taken.map(({ title }) => title), ...all.map((row) => taken.map(({ csv }) => csv(row)))])
    } catch (error) {
      toast({ tone: 'bad', text: `Export failed. ${toFault(error).message}` })
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button variant="quiet" small disabled={disabled} busy={busy} onClick={() => void save()}>
      <DownloadIcon /> CSV
    </Button>
  )
}

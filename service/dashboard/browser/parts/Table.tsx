import { useLocation } from 'wouter'
import type { Column } from './columns.tsx'
import { Skeleton } from './states.tsx'

/** The rows of a list; a row with a page of its own leads there. */
export function Table<Row extends { id: string }>({
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
                <tr key={at} aria-hidden className="border-b border-line last:border-0">
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

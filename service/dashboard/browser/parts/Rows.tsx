import { ArrowUpIcon, PlusIcon, TrashIcon } from '@radix-ui/react-icons'
import type { ReactNode } from 'react'
import { Button, IconButton } from './Button.tsx'

/** A repeated set of fields in an order that matters: each set can be moved up or removed, except the last one left. */
export function Rows({
  name,
  ids,
  columns,
  first,
  rest,
  moveUp,
  remove,
  add,
}: {
  /** The name of one set, such as "input". */
  name: string
  ids: readonly string[]
  /** The widths of the fields in the first line. */
  columns: string
  first: (at: number) => ReactNode
  rest: (at: number) => ReactNode
  moveUp: (at: number) => void
  remove: (at: number) => void
  add: () => void
}) {
  const title = name.charAt(0).toUpperCase() + name.slice(1)
  return (
    <div className="space-y-3">
      {ids.map((id, at) => (
        <fieldset key={id} className="rounded-lg border border-line p-3">
          <legend className="sr-only">
            {title} {at + 1}
          </legend>
          <div className={`grid gap-3 ${columns}`}>
            {first(at)}
            <div className="flex items-end sm:pb-0.5">
              <IconButton
                label={`Move ${name} ${String(at + 1)} up`}
                disabled={at === 0}
                className="disabled:opacity-40"
                onClick={() => moveUp(at)}
              >
                <ArrowUpIcon />
              </IconButton>
              <IconButton
                label={`Remove ${name} ${String(at + 1)}`}
                disabled={ids.length === 1}
                className="disabled:opacity-40"
                onClick={() => remove(at)}
              >
                <TrashIcon />
              </IconButton>
            </div>
          </div>
          {rest(at)}
        </fieldset>
      ))}
      <Button small onClick={add}>
        <PlusIcon /> Add {/^[aeiou]/.test(name) ? 'an' : 'a'} {name}
      </Button>
    </div>
  )
}

import { ArrowUpIcon, DragHandleDots2Icon, PlusIcon, TrashIcon } from '@radix-ui/react-icons'
import { useState, type PointerEvent, type ReactNode } from 'react'
import { Button, IconButton } from './Button.tsx'

/** A repeated set of fields in an order that matters: each set can be dragged, moved up or removed. */
export function Rows({
  name,
  ids,
  columns,
  first,
  rest,
  move,
  remove,
  add,
  least = 1,
}: {
  /** The name of one set, such as "input". */
  name: string
  ids: readonly string[]
  /** The widths of the fields in the first line. */
  columns: string
  first: (at: number) => ReactNode
  rest: (at: number) => ReactNode
  move: (from: number, to: number) => void
  remove: (at: number) => void
  add: () => void
  /** How many sets are left at least. */
  least?: number
}) {
  const { drag, handleOf } = useDrag(move)
  const title = name.charAt(0).toUpperCase() + name.slice(1)
  return (
    <div className="space-y-3" data-rows>
      {ids.map((id, at) => (
        <fieldset key={id} className={`rounded-lg border border-line p-3 ${markOf(drag, at)}`}>
          <legend className="sr-only">
            {title} {at + 1}
          </legend>
          <div className={`grid gap-3 ${columns}`}>
            {first(at)}
            <div className="flex items-end sm:pb-0.5">
              {ids.length > 1 && (
                // For pointers alone: a keyboard and a screen reader have the buttons beside it.
                <span
                  {...handleOf(at)}
                  aria-hidden
                  data-handle
                  className="grid size-9 cursor-grab touch-none place-items-center text-quiet"
                >
                  <DragHandleDots2Icon />
                </span>
              )}
              <IconButton
                label={`Move ${name} ${String(at + 1)} up`}
                disabled={at === 0}
                className="disabled:opacity-40"
                onClick={() => move(at, at - 1)}
              >
                <ArrowUpIcon />
              </IconButton>
              <IconButton
                label={`Remove ${name} ${String(at + 1)}`}
                disabled={ids.length <= least}
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

interface Drag {
  from: number
  /** Where it would be if it were dropped now. */
  to: number
}

/** The order changes once the set is dropped: sets of different heights would jump under the pointer otherwise. */
function useDrag(move: (from: number, to: number) => void) {
  const [drag, setDrag] = useState<Drag | null>(null)
  const end = (): void => setDrag(null)
  const handleOf = (at: number) => ({
    onPointerDown(event: PointerEvent<HTMLElement>): void {
      if (event.button !== 0) return
      event.preventDefault()
      event.currentTarget.setPointerCapture(event.pointerId)
      setDrag({ from: at, to: at })
    },
    onPointerMove({ currentTarget, clientY }: PointerEvent<HTMLElement>): void {
      if (drag === null) return
      const sets = currentTarget.closest('[data-rows]')?.querySelectorAll(':scope > fieldset') ?? []
      const boxes = [...sets].map((set) => set.getBoundingClientRect())
      const above = boxes.filter(({ top, height }, place) => place !== drag.from && top + height / 2 < clientY)
      if (above.length !== drag.to) setDrag({ ...drag, to: above.length })
      // Beyond the screen there may be more sets.
      if (clientY < EDGE_PX) scrollBy(0, -EDGE_PX / 2)
      else if (clientY > innerHeight - EDGE_PX) scrollBy(0, EDGE_PX / 2)
    },
    onPointerUp(): void {
      if (drag !== null && drag.to !== drag.from) move(drag.from, drag.to)
      end()
    },
    onPointerCancel: end,
    onLostPointerCapture: end,
  })
  return { drag, handleOf }
}

/** Where the set comes from, and the edge at which it will be. */
function markOf(drag: Drag | null, at: number): string {
  if (drag === null) return ''
  if (at === drag.from) return 'border-dashed bg-sunk'
  if (at !== drag.to) return ''
  return drag.to > drag.from ? 'border-b-2 border-b-accent' : 'border-t-2 border-t-accent'
}

const EDGE_PX = 60

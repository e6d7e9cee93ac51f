import { useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { remember, remembered } from '../../../ui-kit/watched.ts'
import { useSession } from '../api/session.ts'
import { environment } from '../settings.ts'
import { Button } from './Button.tsx'
import { Labelled } from './form.tsx'
import { Modal } from './Modal.tsx'
import { readViews, withView, without, NAME_MAX, type View } from './views.ts'

/**
 * Names for the filters of a list. They are stored in this browser, for each account and environment: a view is only an
 * address, and the address itself can be sent to others.
 */
export function SavedViews() {
  const session = useSession()
  const [path] = useLocation()
  const [params, setParams] = useSearchParams()
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const user = session.state === 'in' || session.state === 'ended' ? session.user.id : ''
  const key = `coinslot.views.${user}.${environment()}.${path}`
  const [views, setViews] = useState<readonly View[]>(() => readViews(remembered(key)))
  const filters = filtersOf(params)
  const chosen = views.find((view) => view.filters === filters)

  const store = (next: readonly View[]): void => {
    remember(key, next.length === 0 ? null : JSON.stringify(next))
    setViews(next)
  }
  return (
    <>
      {views.length > 0 && (
        <select
          aria-label="Saved views"
          value={chosen?.name ?? ''}
          onChange={(event) => {
            const view = views.find((each) => each.name === event.target.value)
            setParams(new URLSearchParams(view?.filters ?? ''))
          }}
          className="h-8 max-w-44 rounded-[7px] border border-line bg-paper px-2 text-[0.8125rem] hover:bg-sunk"
        >
          <option value="">Saved views…</option>
          {views.map((view) => (
            <option key={view.name}>{view.name}</option>
          ))}
        </select>
      )}
      {chosen !== undefined && (
        <Button small variant="quiet" onClick={() => store(without(views, chosen.name))}>
          Delete view
        </Button>
      )}
      {chosen === undefined && filters !== '' && (
        <Button small variant="quiet" onClick={() => setOpen(true)}>
          Save view
        </Button>
      )}
      <Modal title="Save view" note="The filters are saved in this browser." open={isOpen} close={() => setOpen(false)}>
        <form
          className="space-y-4"
          onSubmit={(event) => {
            event.preventDefault()
            store(withView(views, { name: name.trim(), filters }))
            setName('')
            setOpen(false)
          }}
        >
          <Labelled label="Name" hint="A view of the same name is replaced." fault={undefined}>
            {(tied) => (
              <input
                {...tied}
                className="field"
                maxLength={NAME_MAX}
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Labelled>
          <Button type="submit" variant="main" disabled={name.trim() === ''}>
            Save view
          </Button>
        </form>
      </Modal>
    </>
  )
}

/** Where the page begins is no part of a view. */
function filtersOf(params: URLSearchParams): string {
  const filters = new URLSearchParams(params)
  filters.delete('before')
  filters.delete('page')
  filters.sort()
  return filters.toString()
}

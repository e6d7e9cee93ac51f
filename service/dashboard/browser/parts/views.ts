/** A name for the filters of a list, as the address has them. */
export interface View {
  name: string
  filters: string
}

/** Characters of a name. */
export const NAME_MAX = 40
/** Characters of the filters; longer ones were not made by a page. */
const FILTERS_MAX = 1_000
/** For each list. */
export const VIEWS_MAX = 20

/** What the browser stored. Anything else than views, of another version or by hand, is left out. */
export function readViews(text: string | null): readonly View[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(found) ? found.filter(isView).slice(0, VIEWS_MAX) : []
  } catch {
    return []
  }
}

/** With this one in place of the one with its name; the oldest one makes room. */
export function withView(views: readonly View[], { name, filters }: View): readonly View[] {
  const view = { name: name.slice(0, NAME_MAX), filters: filters.slice(0, FILTERS_MAX) }
  return [...without(views, view.name), view].slice(-VIEWS_MAX)
}

export function without(views: readonly View[], name: string): readonly View[] {
  return views.filter((view) => view.name !== name)
}

function isView(value: unknown): value is View {
  if (typeof value !== 'object' || value === null) return false
  const { name, filters } = value as Partial<Record<string, unknown>>
  return (
    typeof name === 'string' &&
    name !== '' &&
    name.length <= NAME_MAX &&
    typeof filters === 'string' &&
    filters.length <= FILTERS_MAX
  )
}

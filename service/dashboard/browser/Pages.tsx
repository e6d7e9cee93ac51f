import { lazy, Suspense, type ComponentType } from 'react'
import { Route, Switch } from 'wouter'
import { ROUTES } from '../pages.ts'
import { LinkButton } from './parts/Button.tsx'
import { Empty, PageSkeleton } from './parts/states.tsx'
import { useEnvironment } from './settings.ts'

/** The page of the address, within the frame for its reader. */
export default function Pages() {
  // A page's state belongs to one environment, so a change of environment starts the page anew.
  const at = useEnvironment()
  return (
    <Suspense fallback={<PageSkeleton />} key={at}>
      <Switch>
        {VIEWS.map(([path, View]) => (
          <Route key={path} path={path} component={View} />
        ))}
        <Route>
          <Empty title="Page not found" action={<LinkButton to="/">Go to overview</LinkButton>}>
            The link may be old or mistyped.
          </Empty>
        </Route>
      </Switch>
    </Suspense>
  )
}

/** Each page is its own script file. */
const FILES = import.meta.glob<{ default: ComponentType }>('./pages/*.tsx')

const views = new Map(
  Object.entries(FILES).map(([file, load]) => [/(\w+)\.tsx$/.exec(file)?.[1] ?? '', lazy(load)] as const),
)

/** The view of each address; a page without a file fails at startup, before any page is shown. */
const VIEWS: readonly (readonly [path: string, View: ComponentType])[] = ROUTES.map(([path, file]) => {
  const view = views.get(file)
  if (view === undefined) throw new Error(`There is no pages/${file}.tsx`)
  return [path, view] as const
})

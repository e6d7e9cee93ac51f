import { QueryClientProvider, useQueryClient } from '@tanstack/react-query'
import { Suspense, Component, useEffect, type ReactNode } from 'react'
import { Redirect, Route, Router, Switch, useLocation } from 'wouter'
import { queries } from './api/procedures.ts'
import { useEnvironment, settings } from './settings.ts'
import { loadSession, useSession, type SignedIn } from './api/session.ts'
import { isAt, PAGES } from '../pages.ts'
import { VIEWS } from './views.ts'
import { Empty, Failure, PageSkeleton } from './parts/states.tsx'
import { LinkButton, Button } from './parts/Button.tsx'
import { OpenShell } from './shell/OpenShell.tsx'
import { Shell } from './shell/Shell.tsx'
import { Toasts } from './shell/Toasts.tsx'
import { ResetPassword } from './sign-in/ResetPassword.tsx'
import { SignIn } from './sign-in/SignIn.tsx'
import { Modal } from './parts/Modal.tsx'
import { Entrance } from './sign-in/Entrance.tsx'

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <Router base={settings.base}>
        <Boundary>
          <Gate />
        </Boundary>
        <Toasts />
      </Router>
    </QueryClientProvider>
  )
}

/** A visitor who is not signed in sees the sign-in, and afterwards the requested page. */
function Gate() {
  const session = useSession()
  const [location] = useLocation()
  // The link in an e-mail leads here, with or without a session.
  if (location === '/reset-password') return <ResetPassword />
  switch (session.state) {
    case 'unknown':
      return null
    case 'unreachable':
      return (
        <main className="grid min-h-dvh place-items-center">
          <Failure fault={session.fault} again={() => void loadSession()} />
        </main>
      )
    case 'none':
      if (isOpen(location)) {
        return (
          <OpenShell next={location + window.location.search}>
            <Boundary key={location}>
              <Pages />
            </Boundary>
          </OpenShell>
        )
      }
      return location === '/sign-in' ? (
        <SignIn next={wanted()} />
      ) : (
        <Redirect
          to={location === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(location + window.location.search)}`}
          replace
        />
      )
    case 'in':
    case 'ended':
      if (location === '/sign-in') return <Onward to={wanted()} />
      return (
        <>
          <Shell user={session.user}>
            <Boundary key={location}>
              <Pages />
            </Boundary>
          </Shell>
          {session.state === 'ended' && <SessionEnded user={session.user} />}
        </>
      )
  }
}

/** Some pages are for visitors too. */
function isOpen(location: string): boolean {
  return PAGES.some((page) => 'open' in page && isAt(location, page.path))
}

/** Opens the page that was wanted before the sign-in. The server renders the consent page of MCP clients itself. */
function Onward({ to }: { to: string }) {
  const isServed = to.startsWith('/oauth/authorize?')
  useEffect(() => {
    if (isServed) window.location.replace(settings.base + to)
  }, [isServed, to])
  return isServed ? null : <Redirect to={to} replace />
}

/** Accepts only paths of our own: anyone can write a link with another address in it. */
function wanted(): string {
  const next = new URLSearchParams(window.location.search).get('next') ?? '/'
  return /^\/(?![/\\])/.test(next) ? next : '/'
}

function Pages() {
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

/** Shown over the page, not in its place, so that typed text is not lost. */
function SessionEnded({ user }: { user: SignedIn }) {
  const cache = useQueryClient()
  return (
    <Modal title="Your session has ended" note="Sign in again to continue. What you typed is kept." open>
      <Entrance
        email={user.email}
        entered={(id) => {
          // Another account must not see the data of the previous one.
          if (id === user.id) void cache.invalidateQueries()
          else cache.clear()
        }}
      />
    </Modal>
  )
}

/** Catches an error in the page, or a script file that a new release has removed, so that the page is never blank. */
class Boundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true }
  }

  override render(): ReactNode {
    if (!this.state.broken) return this.props.children
    return (
      <div role="alert" className="flex flex-col items-center gap-2 px-6 py-14 text-center">
        <p className="font-semibold">This page stopped working</p>
        <p className="max-w-sm text-quiet">
          There may be a newer version of the page, or the connection was lost. What you saved is not lost.
        </p>
        <Button className="mt-2" onClick={() => window.location.reload()}>
          Reload page
        </Button>
      </div>
    )
  }
}

import { QueryClientProvider } from '@tanstack/react-query'
import { Component, lazy, Suspense, useEffect, useState, type ReactNode } from 'react'
import { Redirect, Router, useLocation } from 'wouter'
import { openQueries } from './api/procedures.ts'
import { settings } from './settings.ts'
import { loadSession, useSession } from './api/session.ts'
import { isAt, PAGES } from '../pages.ts'
import { Failure, PageSkeleton } from './parts/states.tsx'
import { Button } from './parts/Button.tsx'
import { OpenShell } from './shell/OpenShell.tsx'
import { useToasts } from './shell/toast.ts'
import { ResetPassword } from './sign-in/ResetPassword.tsx'
import { SignIn } from './sign-in/SignIn.tsx'
import { VerifyEmail } from './sign-in/VerifyEmail.tsx'

/* Before the sign-in nobody needs these. */
const Inside = lazy(() => import('./shell/Inside.tsx'))
const Pages = lazy(() => import('./Pages.tsx'))
const Toasts = lazy(() => import('./shell/Toasts.tsx'))

export function App() {
  return (
    <Reads>
      <Router base={settings.base}>
        <Boundary>
          <Gate />
        </Boundary>
        <Messages />
      </Router>
    </Reads>
  )
}

/** What was read is forgotten with what is shown. */
function Reads({ children }: { children: ReactNode }) {
  const [queries] = useState(openQueries)
  return <QueryClientProvider client={queries}>{children}</QueryClientProvider>
}

/** Loaded with the first message. */
function Messages() {
  const isUsed = useToasts().length > 0
  const [isLoaded, setLoaded] = useState(false)
  if (isUsed && !isLoaded) setLoaded(true)
  return (
    isLoaded && (
      <Suspense>
        <Toasts />
      </Suspense>
    )
  )
}

/** A visitor who is not signed in sees the sign-in, and afterwards the requested page. */
function Gate() {
  const session = useSession()
  const [location] = useLocation()
  // The links in e-mails lead here, with or without a session.
  if (location === '/reset-password') return <ResetPassword />
  if (location === '/verify-email') return <VerifyEmail />
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
              <Suspense fallback={<PageSkeleton />}>
                <Pages />
              </Suspense>
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
        <Suspense fallback={null}>
          {/* Where another account signs in, nothing that this one has read, opened or typed stays. */}
          <Reads key={session.user.id}>
            <Inside session={session}>
              <Boundary key={location}>
                <Pages />
              </Boundary>
            </Inside>
          </Reads>
        </Suspense>
      )
  }
}

/** Some pages are for visitors too. */
function isOpen(location: string): boolean {
  return PAGES.some((page) => 'open' in page && isAt(location, page.path))
}

/** Opens the page that was wanted before the sign-in. The server renders the pages on which a person lets a program in itself. */
function Onward({ to }: { to: string }) {
  const isServed = /^\/oauth\/(authorize|device)(\?|$)/.test(to)
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

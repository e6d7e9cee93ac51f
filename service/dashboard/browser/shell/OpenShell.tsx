import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { chooseEnvironment, settings } from '../settings.ts'
import { LinkButton } from '../parts/Button.tsx'

/** The frame of the pages that a visitor may read without signing in. */
export function OpenShell({ next, children }: { next: string; children: ReactNode }) {
  return (
    <div className="min-h-dvh">
      <header className="sticky top-0 z-30 flex h-14 items-center gap-4 border-b border-line bg-paper px-4 sm:px-6">
        <Link to="/marketplace" className="flex items-center gap-2 font-semibold tracking-tight">
          <Coin /> Coinslot
        </Link>
        <div className="ml-auto">
          <SignInLink next={next}>Sign in</SignInLink>
        </div>
      </header>
      <main className="mx-auto w-full max-w-6xl min-w-0 px-4 py-6 sm:px-6 lg:py-8">{children}</main>
    </div>
  )
}

/** Leads to the sign-in and then back to one of our pages, in the environment that visitors read. */
export function SignInLink({ next, main = false, children }: { next: string; main?: boolean; children: ReactNode }) {
  return (
    <span
      className="contents"
      onClick={() => {
        if (settings.live) chooseEnvironment('production')
      }}
    >
      <LinkButton to={`/sign-in?next=${encodeURIComponent(next)}`} variant={main ? 'main' : 'plain'}>
        {children}
      </LinkButton>
    </span>
  )
}

/** The logo. */
export function Coin({ className = 'size-5' }: { className?: string }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden className={className}>
      <rect x="2" y="2" width="20" height="20" rx="6" fill="#2b50e2" />
      <path d="M8.5 16.5 15.5 7.5" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
    </svg>
  )
}

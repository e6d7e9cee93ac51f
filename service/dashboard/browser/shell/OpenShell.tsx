import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { chooseEnvironment } from '../api/environment.ts'
import { LinkButton } from '../parts/Button.tsx'
import { settings } from '../settings.ts'
import { Coin } from './Coin.tsx'

/** Around the pages that a visitor may read without signing in. */
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

/** Leads to the sign-in and back to a page of ours, in the environment that visitors read. */
export function SignInLink({ next, main = false, children }: { next: string; main?: boolean; children: ReactNode }) {
  return (
    <span
      className="contents"
      onClick={() => {
        if (settings.live) chooseEnvironment('production')
      }}
    >
      <LinkButton to={`/sign-in?next=${encodeURIComponent(next)}`} look={main ? 'main' : 'plain'}>
        {children}
      </LinkButton>
    </span>
  )
}

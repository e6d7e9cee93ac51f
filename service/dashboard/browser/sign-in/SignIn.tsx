import { useEffect, type ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { TextLink } from '../parts/Button.tsx'
import { Notice } from '../parts/states.tsx'
import { settings } from '../settings.ts'
import { Coin } from '../shell/OpenShell.tsx'
import { Entrance } from './Entrance.tsx'

/** `next` is the path of one of our pages, from the address. */
export function SignIn({ next }: { next: string }) {
  const [params] = useSearchParams()
  const fault = params.get('fault')
  useEffect(() => {
    document.title = 'Sign in · Coinslot'
  }, [])
  return (
    <Frame
      title="Sign in to Coinslot"
      note={
        settings.live
          ? 'Payments in USDC for workflows, prompts, agents and tools.'
          : 'This is a sandbox: everything works, and no real money moves.'
      }
    >
      {fault !== null && (
        <div className="mb-5">
          <Notice tone="bad">{FAULTS[fault] ?? 'You could not be signed in.'}</Notice>
        </div>
      )}
      <Entrance next={next} />
      {settings.inboxUrl !== null && <DemoAccount />}
    </Frame>
  )
}

/** On a developer's own machine, where the mails of all accounts can be read. */
function DemoAccount() {
  return (
    <p className="mt-5 border-t border-line pt-4 text-center text-[0.8125rem] text-quiet">
      The demo account is {DEMO_EMAIL}.{' '}
      <TextLink to={`/reset-password?email=${encodeURIComponent(DEMO_EMAIL)}`}>Choose its password</TextLink>
    </p>
  )
}

/** As the service makes it at the first start of a sandbox. */
const DEMO_EMAIL = 'demo@coinslot.local'

/** Why a sign-in with the provider failed. */
const FAULTS: Readonly<Record<string, string>> = {
  provider_expired: 'This sign-in expired or was started in another browser. Try again.',
  provider_declined: 'The sign-in was declined at the provider. Nothing has changed.',
  provider_refused: 'The provider’s response could not be verified. Try again.',
  provider_unavailable: 'The provider cannot be reached right now. Try again later, or sign in another way.',
  provider_address_unconfirmed:
    'There is an account with your e-mail address, and the provider has not verified that the address is yours.',
  account_address_unconfirmed:
    'There is an account with your e-mail address that was never confirmed. Follow the link in the e-mail that we sent to this address, then sign in with the provider again.',
}

/** The frame of the pages before the sign-in. */
export function Frame({ title, note, children }: { title: string; note: string; children: ReactNode }) {
  return (
    <main className="grid min-h-dvh place-items-center bg-side px-4 py-10">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex flex-col items-center gap-3 text-center">
          <Coin className="size-10" />
          <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          <p className="text-quiet">{note}</p>
        </div>
        <div className="rounded-xl border border-line bg-paper p-5 sm:p-6">{children}</div>
      </div>
    </main>
  )
}

import { useEffect, type ReactNode } from 'react'
import { settings } from '../settings.ts'
import { Coin } from '../shell/Coin.tsx'
import { Entrance } from './Entrance.tsx'

export function SignIn() {
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
      <Entrance />
    </Frame>
  )
}

/** Around whatever is seen before anybody is signed in. */
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

import { useEffect, useState, type ReactNode } from 'react'
import { discoverWallets } from '../../../ui-kit/discovery.ts'
import type { Provider, Wallet } from '../../../ui-kit/provider.ts'
import { toFault } from '../api/fault.ts'
import { Button } from '../parts/Button.tsx'
import { Notice, Skeleton } from '../parts/states.tsx'

/** Whatever wallets this browser has; the one that is chosen is asked to sign. */
export function WalletChoice({
  act,
  none,
  ask,
}: {
  /** What the buttons do, before the wallet's name. */
  act: string
  /** For a browser that has no wallet. */
  none: ReactNode
  ask: (provider: Provider) => Promise<void>
}) {
  const [wallets, setWallets] = useState<readonly Wallet[] | null>(null)
  const [asked, setAsked] = useState<string | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  useEffect(() => discoverWallets(setWallets), [])

  const choose = async (wallet: Wallet): Promise<void> => {
    setAsked(wallet.id)
    setFault(null)
    try {
      await ask(wallet.provider)
    } catch (error) {
      setFault(toFault(error).message)
    } finally {
      setAsked(null)
    }
  }

  if (wallets === null) return <Skeleton className="h-9 w-full" />
  if (wallets.length === 0) return <p className="text-center text-[0.8125rem] text-quiet">{none}</p>
  return (
    <div className="space-y-2">
      {fault !== null && <Notice tone="bad">{fault}</Notice>}
      {wallets.map((wallet) => (
        <Button key={wallet.id} className="w-full" busy={asked === wallet.id} onClick={() => void choose(wallet)}>
          {wallet.icon !== null && asked !== wallet.id && <img src={wallet.icon} alt="" className="size-4" />}
          {asked === wallet.id ? 'Sign the message in your wallet' : `${act} ${wallet.name}`}
        </Button>
      ))}
    </div>
  )
}

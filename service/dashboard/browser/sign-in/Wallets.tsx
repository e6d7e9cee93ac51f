import { useEffect, useState } from 'react'
import { discoverWallets } from '../../../pages/browser/pay/discovery.ts'
import type { Wallet } from '../../../pages/browser/pay/provider.ts'
import { toFault } from '../api/fault.ts'
import { Button } from '../parts/Button.tsx'
import { Notice, Skeleton } from '../parts/states.tsx'
import { signInByWallet } from './ethereum.ts'

/** Sign-In with Ethereum, by whatever wallets this browser has. */
export function Wallets({ entered }: { entered: () => Promise<void> }) {
  const [wallets, setWallets] = useState<readonly Wallet[] | null>(null)
  const [asked, setAsked] = useState<string | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  useEffect(() => discoverWallets(setWallets), [])

  const enter = async (wallet: Wallet): Promise<void> => {
    setAsked(wallet.id)
    setFault(null)
    try {
      await signInByWallet(wallet.provider)
      await entered()
    } catch (error) {
      setFault(toFault(error).message)
    } finally {
      setAsked(null)
    }
  }

  if (wallets === null) return <Skeleton className="h-9 w-full" />
  if (wallets.length === 0) {
    return (
      <p className="text-center text-[0.8125rem] text-quiet">
        With an Ethereum wallet in this browser you could sign in with it, too.
      </p>
    )
  }
  return (
    <div className="space-y-2">
      {fault !== null && <Notice tone="bad">{fault}</Notice>}
      {wallets.map((wallet) => (
        <Button key={wallet.id} className="w-full" busy={asked === wallet.id} onClick={() => void enter(wallet)}>
          {wallet.icon !== null && asked !== wallet.id && <img src={wallet.icon} alt="" className="size-4" />}
          {asked === wallet.id ? 'Sign the message in your wallet' : `Sign in with ${wallet.name}`}
        </Button>
      ))}
    </div>
  )
}

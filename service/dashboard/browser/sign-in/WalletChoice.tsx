import { useEffect, useState, type ReactNode } from 'react'
import { discoverWallets } from '../../../ui-kit/discovery.ts'
import type { Provider, Wallet } from '../../../ui-kit/provider.ts'
import { toFault } from '../api/fault.ts'
import { Button } from '../parts/Button.tsx'
import { Notice, Skeleton } from '../parts/states.tsx'
import { signInByWallet } from './ethereum.ts'

/** The wallets of this browser; the chosen one signs a message. */
export function WalletChoice({
  act,
  none,
  sign,
}: {
  /** The verb on the buttons, before the wallet's name. */
  act: string
  /** For a browser that has no wallet. */
  none: ReactNode
  sign: (provider: Provider) => Promise<void>
}) {
  const [wallets, setWallets] = useState<readonly Wallet[] | null>(null)
  const [signing, setSigning] = useState<string | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  useEffect(() => discoverWallets(setWallets), [])

  const choose = async (wallet: Wallet): Promise<void> => {
    setSigning(wallet.id)
    setFault(null)
    try {
      await sign(wallet.provider)
    } catch (error) {
      setFault(toFault(error).message)
    } finally {
      setSigning(null)
    }
  }

  if (wallets === null) return <Skeleton className="h-9 w-full" />
  if (wallets.length === 0) return <p className="text-center text-[0.8125rem] text-quiet">{none}</p>
  return (
    <div className="space-y-2">
      {fault !== null && <Notice tone="bad">{fault}</Notice>}
      {wallets.map((wallet) => (
        <Button key={wallet.id} className="w-full" busy={signing === wallet.id} onClick={() => void choose(wallet)}>
          {wallet.icon !== null && signing !== wallet.id && <img src={wallet.icon} alt="" className="size-4" />}
          {signing === wallet.id ? 'Sign the message in your wallet' : `${act} ${wallet.name}`}
        </Button>
      ))}
    </div>
  )
}

/** Sign-In with Ethereum, with the wallets of this browser. */
export function Wallets({ entered }: { entered: () => Promise<void> }) {
  return (
    <WalletChoice
      act="Sign in with"
      none="Install an Ethereum wallet in this browser to sign in with it."
      sign={async (provider) => {
        await signInByWallet(provider)
        await entered()
      }}
    />
  )
}

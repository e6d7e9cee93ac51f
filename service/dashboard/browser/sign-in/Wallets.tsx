import { signInByWallet } from './ethereum.ts'
import { WalletChoice } from './WalletChoice.tsx'

/** Sign-In with Ethereum, by whatever wallets this browser has. */
export function Wallets({ entered }: { entered: () => Promise<void> }) {
  return (
    <WalletChoice
      act="Sign in with"
      none="With an Ethereum wallet in this browser you could sign in with it, too."
      ask={async (provider) => {
        await signInByWallet(provider)
        await entered()
      }}
    />
  )
}

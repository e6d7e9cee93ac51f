import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { toFault, type Fault } from '../../api/fault.ts'
import { call, loadSession } from '../../api/session.ts'
import { Button } from '../../parts/Button.tsx'
import { shortly } from '../../../../ui-kit/format.ts'
import { Id, When } from '../../parts/figures.tsx'
import { Card } from '../../parts/layout.tsx'
import { Confirm, Modal } from '../../parts/Modal.tsx'
import { Awaited, Skeleton } from '../../parts/states.tsx'
import { say } from '../../shell/toasts.ts'
import { connectWallet, type ConnectedWallet } from '../../sign-in/ethereum.ts'
import { WalletChoice } from '../../sign-in/WalletChoice.tsx'

/** The Ethereum wallets that sign in to this account. */
export function Wallets() {
  const [connecting, setConnecting] = useState(false)
  const [leaving, setLeaving] = useState<string | null>(null)
  const wallets = useQuery<ConnectedWallet[], Fault>({
    queryKey: ['connected-wallets'],
    queryFn: async () => ((await call('GET', '/auth/siwe/wallets')) as { wallets: ConnectedWallet[] }).wallets,
  })
  const remove = useMutation<unknown, Fault, string>({
    mutationFn: (address) => call('POST', '/auth/siwe/unlink', { address }),
    onSuccess: async () => {
      say({ tone: 'good', text: 'Removed. It no longer signs in to this account.' })
      // An account that began with it is now called by another one.
      await loadSession()
    },
    onError: (error) => say({ tone: 'bad', text: toFault(error).message }),
    onSettled: () => wallets.refetch(),
  })
  const { data } = wallets
  return (
    <Card
      title="Wallets"
      actions={
        <Button small onClick={() => setConnecting(true)}>
          Connect a wallet
        </Button>
      }
    >
      {data === undefined ? (
        <Awaited of={wallets}>
          <Skeleton className="h-12 w-full" />
        </Awaited>
      ) : data.length === 0 ? (
        <p className="text-quiet">No wallet is connected. Connect an Ethereum wallet to sign in with it, too.</p>
      ) : (
        <ul className="divide-y divide-line">
          {data.map(({ address, connectedAt }) => (
            <li
              key={address}
              className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 py-2 first:pt-0 last:pb-0"
            >
              <span className="min-w-0">
                <Id value={address} whole />
                <span className="block text-quiet">
                  connected <When at={connectedAt} />
                </span>
              </span>
              <Button
                look="danger"
                small
                busy={remove.isPending && remove.variables === address}
                aria-label={`Remove ${shortly(address)}`}
                onClick={() => setLeaving(address)}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Modal
        title="Connect a wallet"
        note="From then on it signs in to this account. It signs a message for that: no payment, no permission. Which of its addresses it is, you choose in the wallet."
        open={connecting}
        close={() => setConnecting(false)}
      >
        <WalletChoice
          act="Connect"
          none="This browser has no Ethereum wallet. Install one, or open this page in the browser that has it."
          ask={async (provider) => {
            const { address } = await connectWallet(provider)
            const already = data?.some((wallet) => wallet.address === address) === true
            say({ tone: 'good', text: `${shortly(address)} ${already ? 'was connected already' : 'is connected'}.` })
            setConnecting(false)
            await wallets.refetch()
          }}
        />
      </Modal>
      <Confirm
        title={`Remove ${shortly(leaving ?? '')}?`}
        act="Remove wallet"
        open={leaving !== null}
        close={() => setLeaving(null)}
        confirm={() => {
          if (leaving !== null) remove.mutate(leaving)
        }}
      >
        It no longer signs in to this account: the next time it signs in, it gets an account of its own. Whoever is
        signed in stays so.
      </Confirm>
    </Card>
  )
}

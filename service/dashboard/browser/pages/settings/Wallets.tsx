import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { toFault, type Fault } from '../../api/fault.ts'
import { useAccount, call, loadSession } from '../../api/session.ts'
import { Button } from '../../parts/Button.tsx'
import { shortly } from '../../../../ui-kit/format.ts'
import { Id, When } from '../../parts/values.tsx'
import { Card } from '../../parts/layout.tsx'
import { Confirm, Modal } from '../../parts/Modal.tsx'
import { Loaded, Skeleton } from '../../parts/states.tsx'
import { toast } from '../../shell/toast.ts'
import { connectWallet, type ConnectedWallet } from '../../sign-in/ethereum.ts'
import { WalletChoice } from '../../sign-in/WalletChoice.tsx'

/** The Ethereum wallets that sign in to this account. */
export function Wallets() {
  const [connecting, setConnecting] = useState(false)
  const [leaving, setLeaving] = useState<string | null>(null)
  const wallets = useAccount<{ wallets: ConnectedWallet[] }>('/auth/siwe/wallets')
  const remove = useMutation<unknown, Fault, string>({
    mutationFn: (address) => call('POST', '/auth/siwe/unlink', { address }),
    onSuccess: async () => {
      toast({ tone: 'good', text: 'Wallet removed. It no longer signs in to this account.' })
      // An account that was named after this wallet now has another one's name.
      await loadSession()
    },
    onError: (error) => toast({ tone: 'bad', text: toFault(error).message }),
    onSettled: () => wallets.refetch(),
  })
  const connected = wallets.data?.wallets
  return (
    <Card
      title="Wallets"
      actions={
        <Button small onClick={() => setConnecting(true)}>
          Connect wallet
        </Button>
      }
    >
      <Loaded of={wallets} waiting={<Skeleton className="h-12 w-full" />}>
        {(data) =>
          data.wallets.length === 0 ? (
            <p className="text-quiet">No wallet is connected. Connect an Ethereum wallet to sign in with it.</p>
          ) : (
            <ul className="divide-y divide-line">
              {data.wallets.map(({ address, connectedAt }) => (
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
                    variant="danger"
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
          )
        }
      </Loaded>
      <Modal
        title="Connect wallet"
        note="Choose an address in your wallet and sign a message. It gives no permission and moves no money. You can then sign in to this account with it."
        open={connecting}
        close={() => setConnecting(false)}
      >
        <WalletChoice
          act="Connect"
          none="This browser has no Ethereum wallet. Install one, or open this page in the browser that has it."
          sign={async (provider) => {
            const { address } = await connectWallet(provider)
            const already = connected?.some((wallet) => wallet.address === address) === true
            toast({ tone: 'good', text: `${shortly(address)} ${already ? 'was connected already' : 'is connected'}.` })
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
        You can no longer sign in to this account with it: its next sign-in creates a separate account. Current sessions
        stay signed in.
      </Confirm>
    </Card>
  )
}

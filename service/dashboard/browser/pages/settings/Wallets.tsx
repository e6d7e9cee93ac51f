import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { toFault, type Fault } from '../../api/fault.ts'
import { useAccount, call, loadSession } from '../../api/session.ts'
import { Button } from '../../parts/Button.tsx'
import { shortly } from '../../../../ui-kit/format.ts'
import { Id, When } from '../../parts/values.tsx'
import { Card } from '../../parts/layout.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { Loaded, Skeleton } from '../../parts/states.tsx'
import { toast } from '../../shell/toast.ts'
import { connectWallet, type ConnectedWallet, type OwnerProof as OwnerProofGiven } from '../../sign-in/ethereum.ts'
import { WalletChoice } from '../../sign-in/WalletChoice.tsx'
import { OwnerProof } from './OwnerProof.tsx'

/** The Ethereum wallets that sign in to this account. */
export function Wallets() {
  const [connecting, setConnecting] = useState(false)
  const [leaving, setLeaving] = useState<string | null>(null)
  const wallets = useAccount<{ wallets: ConnectedWallet[] }>('/auth/siwe/wallets')
  const remove = useMutation<unknown, Fault, { address: string; owner: OwnerProofGiven }>({
    mutationFn: (asked) => call('POST', '/auth/siwe/unlink', asked),
    onSuccess: async () => {
      toast({ tone: 'good', text: 'Wallet removed. It no longer signs in to this account.' })
      // An account that was named after this wallet now has another one's name.
      await loadSession()
    },
    onSettled: () => wallets.refetch(),
  })
  const connected = wallets.data?.wallets
  const hasWallet = (connected?.length ?? 0) > 0
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
                    busy={remove.isPending && remove.variables.address === address}
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
      <ConnectDialog
        open={connecting}
        connected={connected ?? []}
        close={() => setConnecting(false)}
        done={() => wallets.refetch()}
      />
      <Modal
        title={`Remove ${shortly(leaving ?? '')}?`}
        note="You can no longer sign in to this account with it: its next sign-in creates a separate account. Current sessions stay signed in."
        open={leaving !== null}
        close={() => setLeaving(null)}
      >
        <OwnerProof
          act="Remove wallet"
          variant="danger"
          hasWallet={hasWallet}
          cancel={() => setLeaving(null)}
          give={async (proof) => {
            if (leaving !== null) await remove.mutateAsync({ address: leaving, owner: proof })
            setLeaving(null)
          }}
        />
      </Modal>
    </Card>
  )
}

/** The account's owner first, then the new wallet. */
function ConnectDialog({
  open,
  connected,
  close,
  done,
}: {
  open: boolean
  connected: readonly ConnectedWallet[]
  close: () => void
  done: () => Promise<unknown>
}) {
  const [owner, setOwner] = useState<OwnerProofGiven | null>(null)
  const leave = (): void => {
    close()
    setOwner(null)
  }
  return (
    <Modal title="Connect wallet" note={owner === null ? OWNER_FIRST : CONNECT} open={open} close={leave}>
      {owner === null ? (
        <OwnerProof
          act="Continue"
          hasWallet={connected.length > 0}
          give={(proof) => Promise.resolve(setOwner(proof))}
        />
      ) : (
        <WalletChoice
          act="Connect"
          none="This browser has no Ethereum wallet. Install one, or open this page in the browser that has it."
          sign={async (provider) => {
            const { address } = await connectWallet(provider, owner).catch((error: unknown) => {
              const fault = toFault(error)
              if (OF_OWNER.has(fault.code)) {
                toast({ tone: 'bad', text: fault.message })
                setOwner(null)
              }
              throw fault
            })
            const already = connected.some((wallet) => wallet.address === address)
            toast({ tone: 'good', text: `${shortly(address)} ${already ? 'was connected already' : 'is connected'}.` })
            leave()
            await done()
          }}
        />
      )}
    </Modal>
  )
}

const OWNER_FIRST = 'First show that this account is yours.'
const CONNECT =
  'Choose an address in your wallet and sign a message. It gives no permission and moves no money. You can then sign in to this account with it.'

/** These refuse the proof, not the new wallet: it is asked for again. A message counts once, so a new one is signed. */
const OF_OWNER = new Set([
  'invalid_password',
  'wallet_proof_required',
  'session_not_fresh',
  'wallet_taken',
  'nonce_unknown',
])

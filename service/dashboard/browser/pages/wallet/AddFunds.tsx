import { useForm } from 'react-hook-form'
import { NETWORK_NAMES } from '../../../../ui-kit/networks.ts'
import { useAction, useRead } from '../../api/procedures.ts'
import { useEnvironment } from '../../settings.ts'
import { inUsdc } from '../../../../ui-kit/format.ts'
import { Copy } from '../../parts/values.tsx'
import { AmountField, Form } from '../../parts/form.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { Failure, Notice, Skeleton } from '../../parts/states.tsx'
import { toAmount } from '../../parts/texts.ts'
import { toast } from '../../shell/toast.ts'

export function AddFunds({ close }: { close: () => void }) {
  const at = useEnvironment()
  return (
    <Modal title="Add funds" open close={close}>
      <div className="space-y-6">
        {at === 'sandbox' && <PlayMoney close={close} />}
        <Receive />
      </div>
    </Modal>
  )
}

/** In the sandbox a deposit needs no transfer on chain. */
function PlayMoney({ close }: { close: () => void }) {
  const deposit = useAction('wallet.deposit', { changes: ['wallet.'], quiet: true, once: true })
  const form = useForm({ defaultValues: { amount: '25' } })
  return (
    <Form
      form={form}
      act="Add play money"
      full
      submit={async ({ amount }) => {
        const { newBalance } = await deposit.mutateAsync({ amount: toAmount(amount) })
        toast({ tone: 'good', text: `Funds added. You have ${inUsdc(newBalance)} USDC now.` })
        close()
      }}
    >
      <AmountField form={form} name="amount" label="Amount" hint="Play money is free." />
    </Form>
  )
}

function Receive() {
  const at = useEnvironment()
  const receiving = useRead('wallet.receiving', undefined)
  if (receiving.error !== null) return <Failure fault={receiving.error} again={() => void receiving.refetch()} />
  if (receiving.isPending) return <Skeleton className="h-48 w-full" />
  if (receiving.data === null) {
    return at === 'production' ? (
      <Notice tone="warn">This server has no deposit addresses. Ask its operator.</Notice>
    ) : null
  }
  const { address, network, qr } = receiving.data
  return (
    <section aria-label="By a transfer" className={at === 'sandbox' ? 'border-t border-line pt-5' : ''}>
      <p className="mb-3">
        Send USDC on <strong className="font-semibold">{NETWORK_NAMES[network]}</strong> to this address of yours. It is
        credited after three confirmations, about six seconds.
      </p>
      <div className="flex flex-col items-center gap-3 rounded-lg bg-sunk p-4">
        <img
          src={`data:image/svg+xml,${encodeURIComponent(qr)}`}
          alt="The address as a QR code"
          className="size-40 rounded-md bg-white"
        />
        <div className="flex items-center gap-1">
          <code className="font-mono text-[0.8125rem] break-all">{address}</code>
          <Copy value={address} label="Copy the address" />
        </div>
      </div>
      <p className="mt-3 text-[0.8125rem] text-quiet">Other tokens, and USDC on other networks, do not arrive.</p>
    </section>
  )
}

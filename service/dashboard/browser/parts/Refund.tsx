import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { inUsdc } from '../../../ui-kit/format.ts'
import { useAction, useRead, type Output } from '../api/procedures.ts'
import { toast } from '../shell/Toasts.tsx'
import { StateBadge } from './Badge.tsx'
import { Button } from './Button.tsx'
import { AmountField, Form, TextField } from './form.tsx'
import { Facts } from './layout.tsx'
import { Modal } from './Modal.tsx'
import { Loaded, Notice, Skeleton } from './states.tsx'
import { toAmount } from './texts.ts'
import { Id, Money } from './values.tsx'

/** Sends a payment back, and shows what went back of it. */
export function RefundPayment({ id }: { id: string }) {
  const [open, setOpen] = useState(false)
  const close = (): void => setOpen(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>Refund payment</Button>
      {open && (
        <Modal
          title="Refund payment"
          note="USDC goes back to the address that paid, from your balance."
          open
          close={close}
        >
          <Contents id={id} close={close} />
        </Modal>
      )}
    </>
  )
}

type Payment = Output<'payments.get'>

function Contents({ id, close }: { id: string; close: () => void }) {
  const payment = useRead('payments.get', { id })
  return (
    <Loaded of={payment} waiting={<Skeleton className="h-48 w-full" />}>
      {(data) => (
        <div className="space-y-4">
          {data.refunds.map((refund) => (
            <Progress key={refund.id} refund={refund} />
          ))}
          {data.refundable > 0 ? (
            <RefundForm key={data.refundable} payment={data} close={close} />
          ) : (
            <div className="flex justify-end">
              <Button onClick={close}>Close</Button>
            </div>
          )}
        </div>
      )}
    </Loaded>
  )
}

function RefundForm({ payment: { id, payer, refundable }, close }: { payment: Payment; close: () => void }) {
  const refund = useAction('payments.refund', {
    changes: ['payments.', 'checkouts.', 'paywalls.', 'wallet.'],
    quiet: true,
    once: true,
  })
  const form = useForm({ defaultValues: { amount: String(refundable), reason: '' } })
  return (
    <Form
      form={form}
      act="Refund payment"
      cancel={close}
      submit={async ({ amount, reason }) => {
        await refund.mutateAsync({ id, amount: toAmount(amount), reason })
        toast({ tone: 'good', text: `Refund of ${inUsdc(toAmount(amount))} USDC requested.` })
      }}
    >
      <Facts facts={[['To', <Id key="to" value={payer} whole />]]} />
      <AmountField
        form={form}
        name="amount"
        label="Amount"
        hint={
          <>
            Refundable: <Money amount={refundable} />
          </>
        }
      />
      <TextField form={form} name="reason" label="Reason" hint="For your records. The buyer does not see it." />
    </Form>
  )
}

function Progress({ refund }: { refund: Payment['refunds'][number] }) {
  const { state, amount, reason, explorerUrl, txHash, waitsFor, failure } = refund
  return (
    <section aria-label="Refund" className="space-y-2 rounded-lg bg-sunk px-4 py-3">
      <Facts
        facts={[
          ['Refund', <Money key="amount" amount={amount} />],
          ['State', <StateBadge key="state" state={state} />],
          reason === null ? null : ['Reason', reason],
          explorerUrl === null || txHash === null
            ? null
            : [
                'Transaction',
                <a key="tx" href={explorerUrl} target="_blank" rel="noreferrer" className="link font-mono">
                  {txHash.slice(0, 10)}…
                </a>,
              ],
        ]}
      />
      {waitsFor !== null && (
        <Notice tone="warn">
          {waitsFor.sentence}
          {waitsFor.missing !== null && ` ${inUsdc(waitsFor.missing)} USDC are missing.`}
        </Notice>
      )}
      {failure !== null && <Notice tone="bad">{failure.sentence}</Notice>}
    </section>
  )
}

import { useState } from 'react'
import { useForm, useWatch } from 'react-hook-form'
import { inUsdc } from '../../../ui-kit/format.ts'
import { useAction, useRead, type Output } from '../api/procedures.ts'
import { toast } from '../shell/toast.ts'
import { StateBadge } from './Badge.tsx'
import { Button } from './Button.tsx'
import { AmountField, Choice, Form, TextField } from './form.tsx'
import { WalletChoice } from '../sign-in/WalletChoice.tsx'
import { asked } from '../sign-in/ethereum.ts'
import { Fault } from '../api/fault.ts'
import { chainIdOf, connect, sign, switchTo } from '../../../ui-kit/wallet.ts'
import { shortly } from '../../../ui-kit/format.ts'
import type { Provider } from '../../../ui-kit/provider.ts'
import { Facts } from './layout.tsx'
import { Modal } from './Modal.tsx'
import { Loaded, Notice, Skeleton } from './states.tsx'
import { toAmount } from './texts.ts'
import { Id, Money } from './values.tsx'

/** Sends a payment back, and shows what went back of it. */
export function RefundPayment({ id, act = 'Refund payment' }: { id: string; act?: string }) {
  const [open, setOpen] = useState(false)
  const close = (): void => setOpen(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>{act}</Button>
      {open && (
        <Modal
          title="Refund payment"
          note="The refund goes to the address that paid. Choose where the money comes from."
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
  const [follows, setFollows] = useState(false)
  const payment = useRead('payments.get', { id }, { refetchInterval: follows ? FOLLOW_MS : false })
  const isOpen = payment.data?.refunds.some(({ state }) => OPEN.has(state)) === true
  if (isOpen !== follows) setFollows(isOpen)
  return (
    <Loaded of={payment} waiting={<Skeleton className="h-48 w-full" />}>
      {(data) => (
        <div className="space-y-4">
          <Receipt id={id} />
          {data.refunds.map((refund) => (
            <Progress key={refund.id} refund={refund} id={id} />
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

/** Where the buyer wants the receipt, if anywhere. */
export function Receipt({ id }: { id: string }) {
  const address = useRead('invoices.receiptAddress', { id })
  const mail = useAction('invoices.mailReceipt', { changes: [] })
  const email = address.data?.email
  if (email == null) return null
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 text-quiet">
      <span className="min-w-0 break-words">The receipt was mailed to {email}.</span>
      <Button
        busy={mail.isPending}
        onClick={() =>
          mail.mutate(
            { id },
            { onSuccess: () => toast({ tone: 'good', text: `The receipt is on its way to ${email}.` }) },
          )
        }
      >
        Send again
      </Button>
    </div>
  )
}

/** A refund that the chain or a deposit ends changes while it is looked at. */
const OPEN = new Set(['requested', 'funded', 'sent'])
const FOLLOW_MS = 3_000

function RefundForm({
  payment: { id, payer, recipient, refundable, test },
  close,
}: {
  payment: Payment
  close: () => void
}) {
  const refund = useAction('payments.refund', {
    changes: ['payments.', 'checkouts.', 'paywalls.', 'wallet.'],
    quiet: true,
    once: true,
  })
  const form = useForm({ defaultValues: { from: 'balance', amount: String(refundable), reason: '' } })
  const isOwn = useWatch({ control: form.control, name: 'from' }) === 'own'
  return (
    <Form
      form={form}
      act="Refund payment"
      cancel={close}
      submit={async ({ from, amount, reason }) => {
        await refund.mutateAsync({ id, amount: toAmount(amount), reason, from: from === 'own' ? 'own' : 'balance' })
        toast({ tone: 'good', text: `Refund of ${inUsdc(toAmount(amount))} USDC requested.` })
      }}
    >
      <Facts facts={[['To', <Id key="to" value={payer} whole />]]} />
      {!test && (
        <Choice
          form={form}
          name="from"
          label="Pay from"
          options={[
            ['balance', 'My Coinslot balance'],
            ['own', 'My own wallet'],
          ]}
          hint={
            isOwn && recipient !== null
              ? `The wallet ${shortly(recipient)}, which received the payment. You sign there next; Coinslot pays the network fee.`
              : undefined
          }
        />
      )}
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

function Progress({ refund, id }: { refund: PaidBack; id: string }) {
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
      {refund.toSign !== null && <Sign refund={refund} toSign={refund.toSign} id={id} />}
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

type PaidBack = Payment['refunds'][number]

/** The wallet that received the payment signs one transfer, and the service carries it out. */
function Sign({ refund, toSign, id }: { refund: PaidBack; toSign: NonNullable<PaidBack['toSign']>; id: string }) {
  const hand = useAction('payments.signRefund', { changes: ['payments.', 'checkouts.', 'paywalls.'], quiet: true })
  return (
    <div className="space-y-2">
      <p className="text-quiet">
        Sign this transfer with the wallet {shortly(toSign.message.from)} before{' '}
        {new Date(refund.expiresAt ?? 0).toLocaleTimeString(undefined, { timeStyle: 'short' })}.
      </p>
      <WalletChoice
        act="Sign with"
        none="This browser has no Ethereum wallet. Open this page in the browser that has the wallet that received the payment."
        sign={async (provider) => {
          const signature = await signTransfer(provider, toSign)
          await hand.mutateAsync({ id, refundId: refund.id, signature })
          toast({ tone: 'good', text: 'Refund signed. It is on its way.' })
        }}
      />
    </div>
  )
}

async function signTransfer(provider: Provider, toSign: NonNullable<PaidBack['toSign']>): Promise<string> {
  const { from } = toSign.message
  const accounts = await asked(() => connect(provider))
  const account = accounts.find((each) => each.toLowerCase() === from.toLowerCase())
  if (account === undefined) {
    throw new Fault(
      `This wallet does not show the address ${shortly(from)}, which received the payment. Choose it there.`,
    )
  }
  const { chainId } = toSign.domain
  await asked(async () => {
    if ((await chainIdOf(provider)) !== chainId) await switchTo(provider, chainId)
  })
  return await asked(() => sign(provider, account, toSign))
}

import { useState, type ReactNode } from 'react'
import { useForm } from 'react-hook-form'
import { NETWORK_NAMES } from '../../../../ui-kit/networks.ts'
import { useAction, useRead, type Output } from '../../api/procedures.ts'
import { Fault } from '../../api/fault.ts'
import { useEnvironment } from '../../settings.ts'
import { StateBadge } from '../../parts/Badge.tsx'
import { Button, TextLink } from '../../parts/Button.tsx'
import { inUsdc } from '../../../../ui-kit/format.ts'
import { Id, Money } from '../../parts/values.tsx'
import { AmountField, Form, TextField } from '../../parts/form.tsx'
import { Facts } from '../../parts/layout.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { Loaded, Notice, Skeleton } from '../../parts/states.tsx'
import { toast } from '../../shell/toast.ts'
import { toAmount } from '../../parts/texts.ts'
import { refusalOf } from './withdrawal.ts'
import { REASONS } from './movements.ts'

/** Shows what will arrive before a withdrawal, and its progress afterwards. */
export function Withdraw({ available, close }: { available: number; close: () => void }) {
  const at = useEnvironment()
  const [id, setId] = useState<string | null>(null)
  return (
    <Modal
      title={id === null ? 'Withdraw' : 'Withdrawal'}
      open
      close={close}
      note={
        at === 'sandbox'
          ? 'Play money never leaves the sandbox.'
          : 'Real USDC leaves your wallet. A transfer on Base cannot be reversed: check the address.'
      }
    >
      {id === null ? (
        <NewWithdrawal available={available} close={close} created={setId} />
      ) : (
        <WithdrawalStatus id={id} close={close} />
      )}
    </Modal>
  )
}

function NewWithdrawal(props: Omit<WithdrawalFormProps, 'terms'>) {
  const at = useEnvironment()
  const terms = useRead('wallet.terms', undefined)
  return (
    <Loaded of={terms} waiting={<Skeleton className="h-72 w-full" />}>
      {(data) =>
        at === 'production' && !data.onChain ? (
          <Notice tone="warn">This server cannot pay out: no network is set up. Ask its operator.</Notice>
        ) : (
          <WithdrawalForm {...props} terms={data} />
        )
      }
    </Loaded>
  )
}

type Terms = Output<'wallet.terms'>

interface WithdrawalFormProps {
  available: number
  terms: Terms
  close: () => void
  created: (id: string) => void
}

function WithdrawalForm({ available, terms, close, created }: WithdrawalFormProps) {
  const withdraw = useAction('wallet.withdraw', { changes: ['wallet.'], quiet: true, once: true })
  const { usualAddress } = terms
  const form = useForm({ defaultValues: { amount: '', to: usualAddress ?? '' } })
  const amount = toAmount(form.watch('amount'))
  const most = Math.min(available, terms.left ?? available)
  const refusal = refusalOf(amount, { ...terms, available })
  return (
    <Form
      form={form}
      act="Withdraw"
      cancel={close}
      submit={async ({ amount: typed, to }) => {
        const refused = refusalOf(toAmount(typed), { ...terms, available })
        if (refused !== null) throw new Fault(refused, { code: 'withdrawal_refused' })
        const { id } = await withdraw.mutateAsync({ amount: toAmount(typed), to: to.trim() })
        toast({ tone: 'good', text: `${inUsdc(toAmount(typed))} USDC are being withdrawn.` })
        created(id)
      }}
    >
      <AmountField
        form={form}
        name="amount"
        label="Amount"
        hint={
          <>
            Available: <Money amount={available} />{' '}
            <button type="button" className="link" onClick={() => form.setValue('amount', String(most))}>
              {most < available ? 'Use the daily maximum' : 'Use all'}
            </button>
          </>
        }
      />
      <TextField
        form={form}
        name="to"
        label="To"
        mono
        placeholder="0x…"
        spellCheck={false}
        autoComplete="off"
        hint={
          usualAddress === null ? (
            <>
              Always the same address? <UsualAddress>Save it in the settings.</UsualAddress>
            </>
          ) : (
            <>
              Filled in from <UsualAddress>your payout address.</UsualAddress>
            </>
          )
        }
      />
      <section aria-label="Terms" className="rounded-lg bg-sunk px-4 py-3">
        <Facts facts={factsOf(terms, refusal === null ? amount : Number.NaN)} />
      </section>
      {refusal !== null && <Notice tone="warn">{refusal}</Notice>}
    </Form>
  )
}

function UsualAddress({ children }: { children: ReactNode }) {
  return <TextLink to="/settings#money">{children}</TextLink>
}

function factsOf({ fee, network, minimum, perDay, left }: Terms, amount: number) {
  return [
    ['Fee', fee === 0 ? 'None: Coinslot pays the network fee' : <Money key="fee" amount={fee} />],
    ['You receive', Number.isFinite(amount) && amount > fee ? <Money key="arrives" amount={amount - fee} /> : '–'],
    ['Minimum', <Money key="minimum" amount={minimum} />],
    ['Network', NETWORK_NAMES[network]],
    perDay === null || left === null
      ? null
      : ([
          'Left today',
          <span key="left">
            <Money amount={left} /> of <Money amount={perDay} />
          </span>,
        ] as const),
  ] as const
}

/** How far a withdrawal has come, updated as it happens. */
function WithdrawalStatus({ id, close }: { id: string; close: () => void }) {
  const withdrawal = useRead('wallet.withdrawal', { id })
  return (
    <Loaded of={withdrawal} waiting={<Skeleton className="h-32 w-full" />}>
      {(data) => <Progress withdrawal={data} close={close} />}
    </Loaded>
  )
}

function Progress({ withdrawal, close }: { withdrawal: Output<'wallet.withdrawal'>; close: () => void }) {
  const { status, amount, to, txHash, reason } = withdrawal
  return (
    <div className="space-y-4">
      <Facts
        facts={[
          ['State', <StateBadge key="state" state={status} />],
          ['Amount', <Money key="amount" amount={amount} />],
          ['To', <Id key="to" value={to} whole />],
          txHash === null ? null : ['Transaction', <Id key="hash" value={txHash} whole />],
        ]}
      />
      {status === 'failed' && (
        <Notice tone="bad">
          {reason === null ? 'The withdrawal failed.' : REASONS[reason]} The amount is back in your wallet.
        </Notice>
      )}
      <div className="flex justify-end">
        <Button onClick={close}>{status === 'confirmed' || status === 'failed' ? 'Done' : 'Close'}</Button>
      </div>
    </div>
  )
}

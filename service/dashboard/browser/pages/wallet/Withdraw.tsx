import { useState, type ReactNode } from 'react'
import { useForm } from 'react-hook-form'
import { NETWORK_NAMES } from '../../../../ui-kit/networks.ts'
import { useAct, useAsk, type Output } from '../../api/ask.ts'
import { Fault } from '../../api/fault.ts'
import { useEnvironment } from '../../api/environment.ts'
import { StateBadge } from '../../parts/Badge.tsx'
import { Button, TextLink } from '../../parts/Button.tsx'
import { inUsdc } from '../../../../ui-kit/format.ts'
import { Id, Money } from '../../parts/figures.tsx'
import { AmountField, Form, TextField } from '../../parts/form.tsx'
import { Facts } from '../../parts/layout.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { Awaited, Notice, Skeleton } from '../../parts/states.tsx'
import { say } from '../../shell/toasts.ts'
import { toAmount } from '../../parts/texts.ts'
import { refusalOf } from './payable.ts'
import { REASONS } from './reasons.ts'

/** Says before what will arrive and what may, and afterwards how far it has come. */
export function Withdraw({ available, close }: { available: number; close: () => void }) {
  const at = useEnvironment()
  const [made, setMade] = useState<string | null>(null)
  return (
    <Modal
      title={made === null ? 'Withdraw' : 'Your withdrawal'}
      open
      close={close}
      note={
        at === 'sandbox'
          ? 'Play money never leaves the sandbox.'
          : 'Real USDC leaves your wallet. A transfer on Base cannot be taken back: check the address.'
      }
    >
      {made === null ? <Order available={available} close={close} made={setMade} /> : <Way id={made} close={close} />}
    </Modal>
  )
}

function Order(props: { available: number; close: () => void; made: (id: string) => void }) {
  const at = useEnvironment()
  const terms = useAsk('wallet.terms', undefined)
  if (terms.data === undefined) {
    return (
      <Awaited of={terms}>
        <Skeleton className="h-72 w-full" />
      </Awaited>
    )
  }
  if (at === 'production' && !terms.data.onChain) {
    return <Notice tone="warn">This server has no chain to pay out on. Ask whoever runs it.</Notice>
  }
  return <Amounts {...props} terms={terms.data} />
}

type Terms = Output<'wallet.terms'>

function Amounts({
  available,
  close,
  made,
  terms,
}: {
  available: number
  close: () => void
  made: (id: string) => void
  terms: Terms
}) {
  const withdraw = useAct('wallet.withdraw', { changes: ['wallet.'], quiet: true, once: true })
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
        say({ tone: 'good', text: `${inUsdc(toAmount(typed))} USDC are on their way.` })
        made(id)
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
              {most < available ? 'All that may leave today' : 'All of it'}
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
              Always the same one? <UsualAddress>Save it in the settings.</UsualAddress>
            </>
          ) : (
            <>
              It begins with <UsualAddress>your payout address.</UsualAddress>
            </>
          )
        }
      />
      <section aria-label="What will arrive" className="rounded-lg bg-sunk px-4 py-3">
        <Facts facts={factsOf(terms, refusal === null ? amount : Number.NaN)} />
      </section>
      {refusal !== null && <Notice tone="warn">{refusal}</Notice>}
    </Form>
  )
}

function UsualAddress({ children }: { children: ReactNode }) {
  return <TextLink to="/settings">{children}</TextLink>
}

function factsOf({ fee, network, minimum, perDay, left }: Terms, amount: number) {
  return [
    ['Fee', fee === 0 ? 'None: the network’s is ours' : <Money key="fee" amount={fee} />],
    ['Arrives', Number.isFinite(amount) && amount > fee ? <Money key="arrives" amount={amount - fee} /> : '–'],
    ['At least', <Money key="minimum" amount={minimum} />],
    ['On', NETWORK_NAMES[network]],
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

/** From the lock to the chain's word, as it happens. */
function Way({ id, close }: { id: string; close: () => void }) {
  const found = useAsk('wallet.withdrawal', { id })
  if (found.data === undefined) {
    return (
      <Awaited of={found}>
        <Skeleton className="h-32 w-full" />
      </Awaited>
    )
  }
  const { status, amount, to, txHash, reason } = found.data
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
        <Notice tone="bad">{reason === null ? 'It failed.' : REASONS[reason]} The money is back in your wallet.</Notice>
      )}
      <div className="flex justify-end">
        <Button onClick={close}>{status === 'confirmed' || status === 'failed' ? 'Done' : 'Close'}</Button>
      </div>
    </div>
  )
}

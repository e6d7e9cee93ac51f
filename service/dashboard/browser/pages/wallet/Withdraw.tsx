import { useForm } from 'react-hook-form'
import { useEnvironment } from '../../api/environment.ts'
import { useOnce } from '../../api/rest.ts'
import { inFigures, Money } from '../../parts/figures.tsx'
import { AmountField, Form, TextField } from '../../parts/form.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { say } from '../../shell/toasts.ts'
import { toAmount } from './AddFunds.tsx'

export function Withdraw({ available, close }: { available: number; close: () => void }) {
  const at = useEnvironment()
  const withdraw = useOnce<{ amount: number; to: string }, unknown>('/wallet/withdraw', ['wallet.'])
  const form = useForm({ defaultValues: { amount: '', to: '' } })
  return (
    <Modal
      title="Withdraw"
      open
      close={close}
      note={
        at === 'sandbox'
          ? 'Play money never leaves the sandbox.'
          : 'A transfer on Base cannot be taken back: check the address.'
      }
    >
      <Form
        form={form}
        act="Withdraw"
        cancel={close}
        submit={async ({ amount, to }) => {
          await withdraw.mutateAsync({ amount: toAmount(amount), to: to.trim() })
          say({ tone: 'good', text: `${inFigures(toAmount(amount))} USDC are on their way.` })
          close()
        }}
      >
        <AmountField
          form={form}
          name="amount"
          label="Amount"
          hint={
            <>
              Available: <Money amount={available} />{' '}
              <button
                type="button"
                className="link"
                onClick={() => {
                  form.setValue('amount', String(available))
                }}
              >
                All of it
              </button>
            </>
          }
        />
        <TextField form={form} name="to" label="To" mono placeholder="0x…" spellCheck={false} autoComplete="off" />
      </Form>
    </Modal>
  )
}

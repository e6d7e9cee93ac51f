import { useForm, useWatch } from 'react-hook-form'
import { useAction, type Output } from '../../api/procedures.ts'
import { StateBadge } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { AmountField, Choice, Form, TextArea } from '../../parts/form.tsx'
import { Facts } from '../../parts/layout.tsx'
import { Modal } from '../../parts/Modal.tsx'
import { Notice } from '../../parts/states.tsx'
import { toAmount } from '../../parts/texts.ts'
import { Id, Money, When } from '../../parts/values.tsx'
import { toast } from '../../shell/toast.ts'

/** What a buyer reported, with the seller's answer or the form for it. */
export function DisputeDialog({ dispute, close }: { dispute: Dispute; close: () => void }) {
  const { state, payment, reason, text, openedBy, answer, refundFailure, unanswered, answerBy } = dispute
  return (
    <Modal title="Dispute" open close={close}>
      <div className="space-y-4">
        <Facts
          facts={[
            ['Payment', <Id key="payment" value={payment.id} />],
            ['State', <StateBadge key="state" state={state} />],
            ['Reported by', openedBy === 'agent' ? 'A program, as a refund request' : 'The buyer'],
            ['Reason', reasonText(reason)],
            text === null
              ? null
              : [
                  'Buyer’s words',
                  <span key="text" className="break-words whitespace-pre-line">
                    {text}
                  </span>,
                ],
            ['Asks for', <Money key="amount" amount={dispute.amount} />],
            ['Answer by', <When key="by" at={answerBy} />],
            answer === null
              ? null
              : [
                  'Your answer',
                  <span key="answer" className="break-words whitespace-pre-line">
                    {answer}
                  </span>,
                ],
          ]}
        />
        {state === 'open' && refundFailure !== null && (
          <Notice tone="bad">
            The last refund failed ({refundFailure.replaceAll('_', ' ')}). Add funds if needed, and answer again.
          </Notice>
        )}
        {state === 'open' ? (
          <>
            <Notice tone="warn">
              {unanswered === 'refund'
                ? 'Without an answer it is refunded from your balance.'
                : 'Without an answer it is closed.'}
            </Notice>
            <AnswerForm dispute={dispute} close={close} />
          </>
        ) : (
          <div className="flex justify-end">
            <Button onClick={close}>Close</Button>
          </div>
        )}
      </div>
    </Modal>
  )
}

function AnswerForm({ dispute: { id, amount, payment }, close }: { dispute: Dispute; close: () => void }) {
  const answer = useAction('disputes.answer', {
    changes: ['disputes.', 'payments.', 'checkouts.', 'paywalls.', 'wallet.'],
    quiet: true,
    once: true,
  })
  const defaults = {
    action: 'refund' as 'refund' | 'decline',
    amount: String(Math.min(amount, payment.refundable)),
    text: '',
  }
  const form = useForm({ defaultValues: defaults })
  const action = useWatch({ control: form.control, name: 'action' })
  return (
    <Form
      form={form}
      act="Send answer"
      cancel={close}
      submit={async (values) => {
        const isRefund = values.action === 'refund'
        const text = values.text.trim() === '' ? null : values.text.trim()
        await answer.mutateAsync({
          id,
          action: values.action,
          text,
          ...(isRefund ? { amount: toAmount(values.amount) } : {}),
        })
        toast({ tone: 'good', text: isRefund ? 'Refund requested.' : 'Dispute declined.' })
        close()
      }}
    >
      <Choice
        form={form}
        name="action"
        label="Answer"
        options={[
          ['refund', 'Refund the buyer'],
          ['decline', 'Decline'],
        ]}
      />
      {action === 'refund' && (
        <AmountField
          form={form}
          name="amount"
          label="Amount"
          hint={
            <>
              Refundable: <Money amount={payment.refundable} />
            </>
          }
        />
      )}
      <TextArea form={form} name="text" label="Message" optional hint="The buyer sees it." maxLength={1_000} />
    </Form>
  )
}

export type Dispute = Output<'disputes.list'>['disputes'][number]

const REASONS: Readonly<Record<Dispute['reason'], string>> = {
  service_not_delivered: 'Not delivered',
  service_defective: 'Defective',
  duplicate_payment: 'Paid twice',
  overcharge: 'Paid too much',
  customer_request: 'Changed their mind',
  other: 'Other',
}

export function reasonText(reason: Dispute['reason']): string {
  return REASONS[reason]
}

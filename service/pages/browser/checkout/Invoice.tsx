import { useEffect, useState } from 'preact/hooks'
import type { PaymentState } from '../../model.ts'
import { say } from '../words/say.ts'
import { RECEIPT } from './form.ts'
import { Warning } from './Icons.tsx'
import type { InvoiceForm } from './InvoiceForm.tsx'
import { ask } from './report.ts'
import type { State } from './state.ts'

/** The receipt and the invoice as files; where the seller issues invoices, a form to ask for one. */
export function Documents({ payment }: { payment: PaymentState['payment'] }) {
  const { token, receiptUrl } = payment
  const [known, setKnown] = useState<Known | null>(null)
  const [form, setForm] = useState<{ Form: typeof InvoiceForm } | null>(null)
  const at = receiptUrl === null ? null : new URL(receiptUrl).pathname
  useEffect(() => {
    if (at !== null && token !== null)
      void ask(`${at}/invoice`, token).then((answer) => setKnown(knownIn(answer?.body)))
  }, [at, token])
  if (at === null || token === null) return null
  // Few want one: the form is loaded for those who do. The script of an earlier release may be gone.
  const open = (): void =>
    void import('./InvoiceForm.tsx').then(
      ({ InvoiceForm: Form }) => setForm({ Form }),
      () => location.reload(),
    )
  const fileAt = (name: string): string => `${at}/${name}?token=${encodeURIComponent(token)}`
  return (
    // Its height is there before the answer, so that nothing moves.
    <div class="problem">
      <p class="fine" role="status">
        <a href={fileAt('receipt.pdf')} target="_blank" rel="noreferrer">
          {say('invoice.receipt')}
        </a>
        {known?.invoice != null && (
          <>
            {' · '}
            <a href={fileAt('invoice.pdf')} target="_blank" rel="noreferrer">
              {say('invoice.file', { number: known.invoice.number })}
            </a>
          </>
        )}
        {known?.offered === true && form === null && (
          <>
            {' · '}
            <button type="button" class="link" onClick={open}>
              {say('invoice.ask')}
            </button>
          </>
        )}
      </p>
      {known?.email != null && <MailAgain at={`${at}/mail`} token={token} email={known.email} />}
      {form !== null && (
        <form.Form
          send={async (buyer) => {
            const answer = await ask(`${at}/invoice`, token, buyer)
            const issued = answer !== null && answer.status < 300 ? knownIn(answer.body) : null
            if (issued === null) return answer
            setKnown({ ...issued, email: known?.email ?? null })
            setForm(null)
            return null
          }}
          cancel={() => setForm(null)}
        />
      )}
    </div>
  )
}

/** Sends the receipt to the address that was entered at the payment. */
function MailAgain({ at, token, email }: { at: string; token: string; email: string }) {
  const [said, setSaid] = useState<string | null>(null)
  const send = async (): Promise<void> => {
    setSaid(say('receipt.sending'))
    const answer = await ask(at, token, {})
    const fault = answer !== null && typeof answer.body['error'] === 'string' ? answer.body['error'] : null
    setSaid(answer !== null && answer.status < 300 ? say('receipt.sent') : (fault ?? say('receipt.noAnswer')))
  }
  return (
    <p class="fine" role="status">
      {say('receipt.goesTo', { email })}
      {' · '}
      {said ?? (
        <button type="button" class="link" onClick={() => void send()}>
          {say('receipt.again')}
        </button>
      )}
    </p>
  )
}

/** Where the receipt is mailed to. It has no `name`, because names belong to the seller's fields. */
export function ReceiptAddress({ state, enter }: { state: State; enter: ((email: string) => void) | undefined }) {
  const error = state.errors[RECEIPT]
  return (
    <div class="fields">
      <div class="field">
        <label for={RECEIPT_ADDRESS}>
          {say('receipt.address')}
          <span class="optional">{say('common.optional')}</span>
        </label>
        <input
          id={RECEIPT_ADDRESS}
          type="email"
          inputmode="email"
          autocomplete="email"
          autocapitalize="off"
          spellcheck={false}
          maxLength={254}
          aria-invalid={error !== undefined}
          aria-describedby={error === undefined ? undefined : `${RECEIPT_ADDRESS}-error`}
          onInput={(event) => enter?.(event.currentTarget.value)}
        />
        {error !== undefined && (
          <p class="fault" id={`${RECEIPT_ADDRESS}-error`}>
            <Warning />
            {error}
          </p>
        )}
      </div>
    </div>
  )
}

export const RECEIPT_ADDRESS = 'receipt-address'

interface Known {
  invoice: { number: string } | null
  offered: boolean
  /** Where the receipt is mailed to. */
  email: string | null
}

function knownIn(body: Record<string, unknown> | undefined): Known | null {
  return body !== undefined && 'invoice' in body ? (body as unknown as Known) : null
}
